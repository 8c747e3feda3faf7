#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""`.duress.toml`: a project's defaults, found upwards; the command line wins; what is wrong in it stops everything."""
import pathlib
import re
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
from harness import project as fit  # noqa: E402


class ConfigTest(fit.ProjectTest):
    def write(self, text):
        (self.folder / ".duress.toml").write_text(text)

    def config(self, *words, env=None, below=""):
        folder = self.folder / below
        folder.mkdir(exist_ok=True)
        return fit.run([fit.tool(), "config", *words], folder, env)

    def origins(self, *words, env=None, below=""):
        code, out, err = self.config(*words, env=env, below=below)
        self.assertEqual((code, err), (0, ""), out)
        rows = [re.split(r"  +", line) for line in out.splitlines()]
        return {row[0]: (row[1], row[-1]) for row in rows}

    def test_values_and_where_they_come_from(self):
        self.write('seed = 7\nruns = 20\n[classify]\nruns = 500\nsuppressions = ["a.supp", "b.supp"]\nquiet = true\n')
        file = self.folder / ".duress.toml"
        found = self.origins("classify", "--time", "3s", "--", "./a", below="deep")
        self.assertEqual(found["--seed"], ("7", f"{file}:1"))
        self.assertEqual(found["--runs"], ("500", f"{file}:4"))  # the command's own table wins
        self.assertEqual(found["--suppressions"], ("a.supp b.supp", f"{file}:5"))
        self.assertEqual(found["--quiet"][1], f"{file}:6")
        self.assertEqual(found["--time"], ("3s", "command line"))
        self.assertEqual(found["--dir"][1], "default")
        self.assertEqual(self.origins("explore")["--runs"], ("20", f"{file}:2"))

    def test_the_command_line_and_the_environment_win(self):
        self.write('seed = 7\njobs = 3\ncolor = "always"\n')
        found = self.origins("verify", "--seed=9", "-j2", env={"NO_COLOR": "1"})
        self.assertEqual(found["--seed"], ("9", "command line"))
        self.assertEqual(found["--jobs"], ("2", "command line"))
        self.assertEqual(found["--color"][1], "default")
        other = self.folder / "other.toml"
        other.write_text("seed = 8\n")
        self.assertEqual(self.origins("verify", env={"DURESS_CONFIG": str(other)})["--seed"], ("8", f"{other}:1"))
        self.assertEqual(self.origins("verify", env={"DURESS_CONFIG": "none"})["--seed"][1], "default")

    def test_the_file_as_a_whole(self):
        self.assertEqual(self.config(), (0, "no .duress.toml here or above\n", ""))
        self.write("seed = 7\n")
        code, out, _ = self.config()
        self.assertEqual(
            (code, out.split()), (0, [f"{self.folder}/.duress.toml", *"seed 7 line 1 every command".split()])
        )

    def test_what_is_wrong_stops_everything(self):
        file = self.folder / ".duress.toml"
        made = self.folder / "made"
        for text, message in (
            ("\nsede = 7\n", f"{file}:2: unknown key 'sede'; nearest: seed"),
            ("[explore]\nrun = 5\n", f"{file}:2: unknown key 'run'; nearest: run-timeout, runs"),
            ("[explor]\nruns = 5\n", f"{file}:1: [explor] is not a command; nearest: explore"),
            ("seed = 1.5\n", f"{file}:1: seed must be a text, a whole number, true, false or a list of texts"),
            ("quiet = 1\n", f"{file}:1: quiet must be true or false"),
            ("seed = true\n", f"{file}:1: seed must be a text or a number"),
            ("seed = = 7\n", f"{file}:1: "),
        ):
            self.write(text)
            code, out, err = fit.run([fit.tool(), "explore", "--runs", "1", "--", "/bin/touch", made], self.folder)
            self.assertEqual((code, out, err.count("\n")), (2, "", 1), (text, err))
            self.assertTrue(err.startswith(message), (err, message))
            self.assertFalse(made.exists())


if __name__ == "__main__":
    fit.main()
