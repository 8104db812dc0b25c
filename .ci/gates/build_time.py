"""What a cold build computes, as a multiple of its HTTP client, runtime and JSON alone, held against budget.toml."""

import pathlib
import sys
import tomllib

here = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(here.parent.parent / "benches"))
from build_cost import FLOOR, ROOT, SHADWAY, measure  # noqa: E402

most = tomllib.loads((here / "budget.toml").read_text())["build"]["ratio"]


def seconds(subject):
    _, computed, _ = measure(subject, ROOT / "Cargo.lock")
    return computed


# Other work on the machine only ever makes a build dearer, so the cheaper one of two counts.
rounds = [(seconds(FLOOR), seconds(SHADWAY)) for _ in range(2)]
floor, own = map(min, zip(*rounds, strict=True))
ratio = own / floor
verdict = "more than" if ratio > most else "at most"
print(f"{own:.0f} CPU seconds beside {floor:.0f}: {ratio:.2f} times, {verdict} {most}")
sys.exit(ratio > most)
