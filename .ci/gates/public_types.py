"""The types and traits of other crates that the public API names, held against public_types.toml.

Whoever names one has to follow its crate's breaking changes. They are read from what rustdoc writes for programs,
with all features on. The language's own crates don't count, nor do blanket impls, which are not this crate's.
"""

import json
import pathlib
import sys
import tomllib

LANGUAGE = {"std", "core", "alloc"}


def paths_in(value):
    """The ids of all types and traits that are named somewhere in an item, or exported again under any name."""
    if isinstance(value, dict):
        named = isinstance(value.get("path"), str) and "args" in value
        exported_again = isinstance(value.get("source"), str) and "is_glob" in value
        if (named or exported_again) and "id" in value:
            yield value["id"]
        for inner in value.values():
            yield from paths_in(inner)
    elif isinstance(value, list):
        for inner in value:
            yield from paths_in(inner)


def foreign(document):
    paths = document["paths"]
    for item in document["index"].values():
        implementation = item["inner"].get("impl", {})
        if item["crate_id"] != 0 or implementation.get("is_synthetic") or implementation.get("blanket_impl"):
            continue
        for name in paths_in(item["inner"]):
            known = paths.get(str(name))
            if known and known["crate_id"] != 0 and known["path"][0] not in LANGUAGE:
                yield "::".join(known["path"])


document = json.loads(pathlib.Path(sys.argv[1]).read_text())
allowed = tomllib.loads(pathlib.Path(__file__).with_name("public_types.toml").read_text())
found = set(foreign(document))
listed = {path for crate in allowed.values() for path in crate["names"]}
for path in sorted(found - listed):
    print(f"{path} is in the public API, and not in .ci/gates/public_types.toml")
for path in sorted(listed - found):
    print(f"{path} is in .ci/gates/public_types.toml, and no longer in the public API")
for crate, entry in allowed.items():
    if not entry.get("reason"):
        print(f"{crate} has no reason")
        found.add(crate)
if found != listed or not found:
    sys.exit(1)
print(f"{len(found)} names of {len(allowed)} crates, all of them allowed")
