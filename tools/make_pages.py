#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""make_pages.py DURESS OUT: man pages and shell completions, made from what `duress COMMAND --help` prints.

The help is made from the tables that parse the options, so none of these can drift away from the program. Writes
OUT/man/man1/*.1, OUT/bash-completion/completions/duress, OUT/zsh/site-functions/_duress and
OUT/fish/vendor_completions.d/duress.fish, which is where the shells look below a prefix's share.
"""
import pathlib
import re
import shlex
import subprocess
import sys

SUBCOMMANDS = {"trace": ["record", "analyze", "predict", "print", "convert"]}
FOLDERS = {"--dir", "--in"}
# Commands whose first argument is the id of a finding, and the folder of the record whose files have these names.
IDS = {"replay": "findings", "pin": "findings", "fix": "fixes"}
NAMES = {"--tool": "analyses", "--strategy": "strategies", "--heuristic": "heuristics"}


class Option:
    def __init__(self, names, value, choices, text):
        self.names, self.value, self.choices, self.text = names, value, choices, text

    @property
    def long(self):
        return next((n for n in self.names if n.startswith("--")), self.names[0])


class Help:
    """One command's help, taken apart."""

    def __init__(self, name, text):
        self.name = name
        self.summary, self.usage, self.footer = "", "", ""
        self.options, self.positionals = [], []
        lines = text.splitlines()
        head = [i for i, line in enumerate(lines) if line in ("Options:", "Positionals:")]
        rest = lines[: head[0]] if head else lines
        for line in rest:
            if line.startswith("Usage: "):
                self.usage = line[7:].strip()
            elif line.strip() and not self.summary:
                self.summary = line.strip()
            elif line.strip() and not head:
                self.footer += line + "\n"
        section = None
        for i in range(head[0] if head else len(lines), len(lines)):
            line = lines[i]
            if line in ("Options:", "Positionals:"):
                section = self.options if line == "Options:" else self.positionals
            elif section is not None and line.startswith("  ") and not line.startswith(" " * 20):
                section.append(self.entry(line[2:]))
            elif section is not None and line.startswith(" " * 20):
                section[-1].text += (" " if section[-1].text else "") + line.strip()
            elif not line.strip() and not self.footer:
                if section is self.options:
                    section = None
            else:
                section = None
                self.footer += line + "\n"

    @staticmethod
    def entry(line):
        match = re.match(
            r"(\S+)(?: ([A-Z]+)(?::(\S+(?: - \S+)?\]?|\{[^}]*\}))?)?(?: (REQUIRED))?( \.\.\.)?(?:\s{1,}(.*))?$", line
        )
        names, kind, limits = match[1].split(","), match[2], match[3] or ""
        choices = limits[1:-1].split(",") if limits.startswith("{") else []
        return Option(names, kind, choices, (match[6] or "").strip())


def ask(duress, *words):
    return subprocess.run([duress, *words], capture_output=True, text=True, check=True, timeout=60).stdout


def commands(duress):
    """(name, summary) of each command, in the order of the help."""
    found = re.findall(
        r"^  ([a-z]+)\b.*?(?:\s{2,}|\n\s+)(\S.*)$",
        ask(duress, "--help").split("Usage:")[1].split("\n  duress COMMAND")[0],
        re.M,
    )
    return found


# ---- man ---------------------------------------------------------------------------------------


def roff(text):
    text = text.replace("\\", "\\e").replace("-", "\\-").replace("'", "\\(aq").replace("`", "\\(ga")
    return re.sub(r"^\.", r"\\&.", text, flags=re.M)


def roff_block(text):
    """Paragraphs as they are; lines that are indented are examples."""
    out, code = [], False
    for line in text.strip("\n").splitlines():
        example = line.startswith("  ")
        if example and not code:
            out.append(".PP\n.EX")
        elif code and not example:
            out.append(".EE")
        code = example
        if not line.strip():
            if out and out[-1] != ".PP":
                out.append(".PP")
            continue
        out.append(roff(line))
    if code:
        out.append(".EE")
    # A paragraph needs something after it.
    text = re.sub(r"(\.PP\n)+(?=\.PP|\.EE|$)", "", "\n".join(out))
    return text.removeprefix(".PP\n")  # a section begins with one


def man_page(name, summary, version, body):
    title = name.upper().replace(" ", "\\-")
    return (
        f'.TH "{title}" 1 "" "duress {version}" "User Commands"\n.SH NAME\n{roff(name.replace(" ", "-"))} \\- {roff(summary)}\n'
        f"{body}"
    )


def option_list(options):
    out = ""
    for option in options:
        value = "" if option.value is None else " \\fI" + roff("|".join(option.choices) or option.value) + "\\fR"
        out += (
            ".TP\n"
            + ", ".join(f"\\fB{roff(n)}\\fR" for n in option.names)
            + value
            + "\n"
            + roff(option.text or "\\&")
            + "\n"
        )
    return out


def command_page(page, version, summary):
    body = f".SH SYNOPSIS\n.B {roff(page.usage or 'duress ' + page.name)}\n"
    body += f".SH DESCRIPTION\n{roff(page.summary or summary)}\n"
    if page.positionals:
        body += ".SH ARGUMENTS\n" + option_list(page.positionals)
    if page.options:
        body += ".SH OPTIONS\n" + option_list(page.options)
    if page.footer.strip():
        body += ".SH NOTES\n" + roff_block(page.footer) + "\n"
    body += ".SH SEE ALSO\n.BR duress (1)\n"
    return man_page(f"duress {page.name}", summary, version, body)


def main_page(names, version, exit_codes):
    body = ".SH SYNOPSIS\n.B duress\n.I COMMAND\n.RI [ OPTIONS ]\n.SH COMMANDS\n"
    for name, summary in names:
        body += f".TP\n.BR duress\\-{name} (1)\n{roff(summary)}\n"
    body += ".SH EXIT STATUS\n"
    for code, text in exit_codes:
        body += f".TP\n.B {code}\n{roff(text)}\n"
    body += (
        ".SH ENVIRONMENT\n.TP\n.B DURESS_OPTIONS\nOptions of the runtime inside instrumented programs; help=1 lists them.\n"
        ".TP\n.B NO_COLOR\nNo colours.\n.TP\n.B CI\nNo live line: one line of progress every 10 s.\n"
        ".SH FILES\n.TP\n.I .duress/\nFindings and records, unless \\fB\\-\\-dir\\fR names another folder.\n"
        ".SH EXAMPLES\n.EX\nduress\\-c++ \\-g \\-O2 cache.cc \\-o cache\nduress run \\-\\- ./cache\nduress classify \\-\\- ./cache\n.EE\n"
        ".SH SEE ALSO\n.BR duress\\-cc (1)\n"
    )
    return man_page("duress", "finds data races in C and C++ programs, and makes them bite", version, body)


COMPILER = """.SH SYNOPSIS
.B {name}
.RI [ "options of clang" ]
.SH DESCRIPTION
Compiles and links as clang does, and adds what Duress needs to watch the program.
A program built so behaves as always when it is started by itself; it wakes when
.BR duress (1)
starts it.
Keep \\fB\\-g\\fR: names and lines in reports come from the debug information.
.SH EXAMPLES
.EX
CC=duress\\-cc CXX=duress\\-c++ ./configure && make
cmake \\-B build \\-DCMAKE_TOOLCHAIN_FILE=$(duress cmake)
.EE
.SH SEE ALSO
.BR duress (1)
"""

EXIT_CODES = [
    ("0", "Nothing at or above --fail-on was found."),
    ("66", "Findings."),
    ("2", "Wrong use."),
    ("124", "Out of time, or interrupted, with nothing found."),
    ("125", "Duress itself failed, or the program could not be started or is not instrumented."),
    ("other", "duress run passes on the program's own code."),
]


# ---- completions -------------------------------------------------------------------------------


def choices_of(option, lists):
    if option.choices:
        return option.choices
    return lists.get(NAMES.get(option.long, ""), [])


def is_file(option):
    return option.value is not None and not option.choices and option.long not in NAMES


def bash(pages, names, lists):
    out = [
        "# bash completion for duress; made from its help",
        "# The ids in a folder of the record, which --dir may have named.",
        "_duress_ids() {",
        "  local dir=.duress i file",
        "  for ((i = 2; i < ${#COMP_WORDS[@]}; ++i)); do",
        "    [[ ${COMP_WORDS[i]} == --dir ]] || continue",
        "    if [[ ${COMP_WORDS[i+1]} == = ]]; then dir=${COMP_WORDS[i+2]}; else dir=${COMP_WORDS[i+1]}; fi",
        "  done",
        '  for file in "$dir/$1"/[RF]-*.json; do',
        "    [[ -e $file ]] && file=${file##*/} && printf '%s\\n' \"${file%.json}\"",
        "  done",
        "}",
        "_duress() {",
        "  local cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD-1]} command=${COMP_WORDS[1]} i",
        "  COMPREPLY=()",
        "  if ((COMP_CWORD == 1)); then",
        f"    COMPREPLY=($(compgen -W '{' '.join(names)} --help --version' -- \"$cur\"))",
        "    return",
        "  fi",
        "  # After -- come the program and its arguments.",
        "  for ((i = 2; i < COMP_CWORD; ++i)); do",
        '    if [[ ${COMP_WORDS[i]} == -- ]]; then COMPREPLY=($(compgen -f -- "$cur")); return; fi',
        "  done",
        "  # --name=value comes as three words.",
        "  if [[ $cur == = ]]; then cur=; elif [[ $prev == = ]]; then prev=${COMP_WORDS[COMP_CWORD-2]}; fi",
        "  case $command in",
    ]
    for name in names:
        page = pages[name]
        out.append(f"    {name})")
        out.append("      case $prev in")
        for option in page.options:
            words = choices_of(option, lists)
            if words:
                out.append(
                    f"        {'|'.join(option.names)}) COMPREPLY=($(compgen -W '{' '.join(words)}' -- \"$cur\")); return ;;"
                )
            elif option.long in FOLDERS:
                out.append(f"        {'|'.join(option.names)}) COMPREPLY=($(compgen -d -- \"$cur\")); return ;;")
        out.append("      esac")
        words = [n for option in page.options for n in option.names] + SUBCOMMANDS.get(name, [])
        words += lists["kinds"] if name == "list" else []
        flags = "-d" if name == "test" else "-f"
        if name in IDS:
            out.append(
                f'      if [[ $cur != -* ]]; then COMPREPLY=($(compgen -W "$(_duress_ids {IDS[name]})" -- "$cur")); fi'
            )
            out.append("      ((${#COMPREPLY[@]})) && return")
        out.append(
            f"      if [[ $cur == -* ]]; then COMPREPLY=($(compgen -W '{' '.join(words)}' -- \"$cur\")); "
            f"else COMPREPLY=($(compgen {flags} -W '{' '.join(w for w in words if w[0] != '-')}' -- \"$cur\")); fi ;;"
        )
    out += ["  esac", "}", "complete -o filenames -F _duress duress", ""]
    return "\n".join(out)


def zsh_quote(text):
    return text.replace("'", "'\\''").replace("[", "\\[").replace("]", "\\]").replace(":", "\\:")


def zsh(pages, names, lists, summaries):
    out = [
        "#compdef duress",
        "# made from duress' help",
        "# The ids in a folder of the record, which --dir may have named.",
        "_duress_ids() {",
        "  local dir=${opt_args[--dir]:-.duress}",
        "  local -a ids",
        "  ids=($dir/$1/[RF]-*.json(N:t:r))",
        "  (($#ids)) && compadd -a ids || _files",
        "}",
        "_duress() {",
        "  local -A opt_args",
        "  local -a commands",
        "  commands=(",
    ]
    out += [f"    '{name}:{zsh_quote(summaries[name])}'" for name in names]
    out += [
        "  )",
        "  if ((CURRENT == 2)); then",
        "    _describe command commands",
        "    return",
        "  fi",
        "  local command=$words[2]",
        "  shift words; ((CURRENT--))",
        "  case $command in",
    ]
    for name in names:
        out.append(f"    {name})")
        words = []
        for option in pages[name].options:
            value = ""
            if option.value is not None:
                choices = choices_of(option, lists)
                value = ":value:" + (
                    f"({' '.join(choices)})" if choices else "_directories" if option.long in FOLDERS else "_files"
                )
            for one in option.names:
                sign = "=" if value and one.startswith("--") else "+" if value else ""
                words.append(f"'*{one}{sign}[{zsh_quote(option.text)}]{value}'")
        more = SUBCOMMANDS.get(name, []) + (lists["kinds"] if name == "list" else [])
        ids = [f"'1:id: _duress_ids {IDS[name]}'"] if name in IDS else []
        words += ids + ([f"'1:what:({' '.join(more)})'"] if more else ["'*:file:_files'"])
        out.append("      _arguments -S " + " ".join(words) + " ;;")
    out += ["  esac", "}", '_duress "$@"', ""]
    return "\n".join(out)


def fish(pages, names, lists, summaries):
    out = [
        "# fish completion for duress; made from its help",
        "complete -c duress -f -n __fish_use_subcommand -l version -d 'the version'",
        "# The ids in a folder of the record, which --dir may have named.",
        "function __duress_ids",
        "    set -l dir .duress",
        "    set -l words (commandline -opc)",
        "    for i in (seq (count $words))",
        "        test $words[$i] = --dir; and test $i -lt (count $words); and set dir $words[(math $i + 1)]",
        "        string match -q -- '--dir=*' $words[$i]; and set dir (string replace -- --dir= '' $words[$i])",
        "    end",
        "    for file in $dir/$argv[1]/*.json",
        "        string match -r '[RF]-[0-9a-f]+(?=\\.json$)' -- $file",
        "    end",
        "end",
    ]
    for name in names:
        out.append(f"complete -c duress -f -n __fish_use_subcommand -a {name} -d {shlex.quote(summaries[name])}")
        seen = f"-n '__fish_seen_subcommand_from {name}'"
        for option in pages[name].options:
            words = " ".join(f"-l {n[2:]}" if n.startswith("--") else f"-s {n[1:]}" for n in option.names)
            choices = choices_of(option, lists)
            value = "" if option.value is None else f" -x -a '{' '.join(choices)}'" if choices else " -r"
            out.append(f"complete -c duress {seen} {words}{value} -d {shlex.quote(option.text)}")
        more = SUBCOMMANDS.get(name, []) + (lists["kinds"] if name == "list" else [])
        if more:
            out.append(f"complete -c duress -f {seen} -a '{' '.join(more)}'")
        if name in IDS:
            out.append(f"complete -c duress {seen} -a '(__duress_ids {IDS[name]})'")
    return "\n".join(out) + "\n"


def main():
    duress, out = sys.argv[1], pathlib.Path(sys.argv[2])
    version = ask(duress, "--version").split()[1]
    found = commands(duress)
    names, summaries = [name for name, _ in found], dict(found)
    pages = {name: Help(name, ask(duress, name, "--help")) for name in names}
    kinds = re.search(r"\[(.*)\]", pages["list"].usage)[1].split("|")
    lists = {
        kind: [line.split()[0] for line in ask(duress, "list", kind).splitlines() if line.strip()] for kind in kinds
    }
    lists["kinds"] = kinds
    files = {"man/man1/duress.1": main_page(found, version, EXIT_CODES)}
    for name in names:
        files[f"man/man1/duress-{name}.1"] = command_page(pages[name], version, summaries[name])
        for sub in SUBCOMMANDS.get(name, []):
            page = Help(f"{name} {sub}", ask(duress, name, sub, "--help"))
            files[f"man/man1/duress-{name}-{sub}.1"] = command_page(page, version, page.summary.rstrip("."))
            pages[name].options += [o for o in page.options if o.long not in [k.long for k in pages[name].options]]
    for name in ("duress-cc", "duress-c++"):
        files[f"man/man1/{name}.1"] = man_page(
            name, "clang for programs that duress watches", version, COMPILER.format(name=roff(name))
        )
    files["bash-completion/completions/duress"] = bash(pages, names, lists)
    files["zsh/site-functions/_duress"] = zsh(pages, names, lists, summaries)
    files["fish/vendor_completions.d/duress.fish"] = fish(pages, names, lists, summaries)
    for path, text in files.items():
        (out / path).parent.mkdir(parents=True, exist_ok=True)
        (out / path).write_text(text)


if __name__ == "__main__":
    main()
