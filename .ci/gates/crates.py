"""How many crates each way to build it brings, held against budget.toml."""

import json
import pathlib
import subprocess
import sys
import tomllib

budget = tomllib.loads(pathlib.Path(__file__).with_name("budget.toml").read_text())


def crates(features, *more):
    tree = subprocess.run(
        ["cargo", "tree", "--locked", "--package", "shadway", "--edges", "normal,build", "--prefix", "none",
         "--target", "x86_64-unknown-linux-gnu", "--no-default-features", "--features", features, *more],
        check=True, capture_output=True, text=True,
    )  # fmt: skip
    return {tuple(line.split()[:2]) for line in tree.stdout.splitlines() if line}


wrong = False
for features, most in budget["crates"].items():
    count = len(crates(features))
    wrong |= count > most
    verdict = "too many" if count > most else "fewer: the budget can follow" if count < most else "as budgeted"
    print(f"{features or 'no features'}: {count} crates of {most}, {verdict}")

# A crate that is there for one feature alone: all others together don't bring it, though what they build on may.
metadata = json.loads(subprocess.run(
    ["cargo", "metadata", "--locked", "--no-deps", "--format-version", "1"], check=True, capture_output=True, text=True,
).stdout)  # fmt: skip
package = next(package for package in metadata["packages"] if package["name"] == "shadway")
for name in budget["heavy"]["alone"]:
    others = ",".join(feature for feature in package["features"] if feature not in (name, "default"))
    for features, brought in ((others, False), (name, True)):
        if (name in {name for name, _ in crates(features, "--depth", "1")}) != brought:
            wrong = True
            print(f"{name} is {'no' if brought else 'a'} dependency with the features {features}")

bare = {name for name, _ in crates("")}
for name in bare & set(budget["heavy"]["never"]):
    wrong = True
    print(f"the build without features brings {name}")
# The same question has to have another answer where they are, or it proves nothing.
for name in set(budget["heavy"]["default"]) - {name for name, _ in crates("default")}:
    wrong = True
    print(f"the default build is without {name}, so that is no sign of a heavy one any more")
sys.exit(wrong)
