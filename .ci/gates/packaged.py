"""What goes into the published package: by the patterns in packaged.txt, each file and nothing else; and its size."""

import math
import os
import pathlib
import re
import subprocess
import sys
import tomllib

here = pathlib.Path(__file__).parent


def package(*arguments):
    command = ["cargo", "package", "--quiet", "--locked", "--allow-dirty", "--package", "shadway", *arguments]
    return subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout


def pattern(line):
    """`**` is anything, `*` anything within one folder."""
    anything = {"**": ".*", "*": "[^/]*"}
    return re.compile("".join(anything.get(piece, re.escape(piece)) for piece in re.split(r"(\*\*|\*)", line)))


wanted = [line for line in (here / "packaged.txt").read_text().split("\n") if line and not line.startswith("#")]
patterns = {line: pattern(line) for line in wanted}
files = package("--list").splitlines()
stray = [file for file in files if not any(pattern.fullmatch(file) for pattern in patterns.values())]
missing = [line for line, pattern in patterns.items() if not any(pattern.fullmatch(file) for file in files)]
for file in stray:
    print(f"{file} would be published, and no line of .ci/gates/packaged.txt expects it")
for line in missing:
    print(f"nothing in the package is {line}")
if stray or missing:
    sys.exit(1)

most = tomllib.loads((here / "budget.toml").read_text())["package"]["most_kib"]
package("--no-verify")
folder = pathlib.Path(os.environ.get("CARGO_TARGET_DIR", "target")) / "package"
size = max(folder.glob("shadway-*.crate"), key=os.path.getmtime).stat().st_size
# A part of one counts as a whole one, so that what is printed is what was compared.
kib = math.ceil(size / 1024)
verdict = "more than" if kib > most else "at most"
print(f"{len(files)} files, all of them expected; {kib} KiB, {verdict} {most}")
sys.exit(kib > most)
