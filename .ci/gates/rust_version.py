"""Every crate that the library brings along, with any feature and on any platform, runs on the Rust declared here.

cargo takes such a version by itself only where the program that uses the library says which Rust it needs, too.
"""

import json
import subprocess
import sys


def cargo(*arguments):
    return subprocess.run(["cargo", *arguments], check=True, capture_output=True, text=True).stdout


def parts(version):
    return tuple(int(part) for part in version.split("."))


metadata = json.loads(cargo("metadata", "--locked", "--all-features", "--format-version", "1"))
needs = {(package["name"], package["version"]): package["rust_version"] for package in metadata["packages"]}
tree = cargo(
    "tree", "--locked", "--package", "shadway", "--edges", "normal,build", "--all-features",
    "--target", "all", "--prefix", "none", "--format", "{p}",
)  # fmt: skip
brought = {(name, version.removeprefix("v")) for name, version, *_ in map(str.split, filter(None, tree.splitlines()))}

own = next(needs[crate] for crate in brought if crate[0] == "shadway")
newer = sorted(crate for crate in brought if needs[crate] and parts(needs[crate])[:2] > parts(own)[:2])
for name, version in newer:
    print(f"{name} {version} needs Rust {needs[name, version]}; this crate declares {own}")
if newer:
    sys.exit(1)
silent = sum(needs[crate] is None for crate in brought)
print(f"{len(brought)} crates, none needs a newer Rust than {own}; {silent} of them declare nothing")
