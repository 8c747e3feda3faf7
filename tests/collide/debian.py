# SPDX-License-Identifier: Apache-2.0
"""`duress collide` on programs as Debian built them."""
import os
import pathlib
import shutil
import subprocess
import sys

from case import ARGS, CollideTest, FAST, TIMEOUT


class DebianTest(CollideTest):
    """Debian's own binaries: the same output, byte for byte."""

    def test_compressors(self):
        source = os.path.join(self.folder, "data")
        with open(source, "wb") as file:  # some real bytes, some that do not compress
            size = 0
            for path in (sys.executable, ARGS.duress, "/usr/lib/x86_64-linux-gnu/libc.so.6"):
                data = pathlib.Path(path).read_bytes()[: 8 << 20]
                size += len(data)
                file.write(data)
        tried = 0
        for words in (
            ["pigz", "-p", "2"],
            ["zstd", "-T2", "-q"],
            ["pbzip2", "-p2"],
            ["xz", "-T2", "-1", "--block-size=1MiB"],
            ["lbzip2", "-n", "2"],
            ["plzip", "-n", "2", "-1", "-B", "1MiB"],
        ):
            if shutil.which(words[0]) is None or tried == ARGS.compressors:
                continue
            tried += 1
            with self.subTest(program=words[0]):
                packed = [
                    subprocess.run(
                        [*before, *words, "-c", source],
                        stdin=subprocess.DEVNULL,
                        capture_output=True,
                        timeout=TIMEOUT,
                        check=False,
                    )
                    for before in ([], [ARGS.duress, "collide", *FAST, "--"])
                ]
                self.assertEqual(packed[0].returncode, 0, packed[0].stderr)
                self.assertIn(packed[1].returncode, (0, 125), packed[1].stderr)  # 125: too short for a sample
                self.assertEqual(packed[0].stdout, packed[1].stdout)
                unpacked = subprocess.run(
                    [ARGS.duress, "collide", *FAST, "--", *words, "-d", "-c"],
                    input=packed[0].stdout,
                    capture_output=True,
                    timeout=TIMEOUT,
                    check=False,
                )
                self.assertIn(unpacked.returncode, (0, 125), unpacked.stderr)  # 125: too short for a sample
                self.assertEqual(unpacked.stdout, pathlib.Path(source).read_bytes())
        self.assertGreaterEqual(tried, 2)
