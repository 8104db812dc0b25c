#!/usr/bin/env python3
"""What a cold build costs, beside peers: python3 benches/build_cost.py [NAME…]

Each is the only dependency of a throwaway package, with its default features, or what it asks everybody to choose. Its
crates are fetched first; then it is built, as `cargo build` does it, into a folder that is empty. What counts is what all
processes computed, for other work on the machine changes that least.
"""

import json
import os
import pathlib
import platform
import shutil
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent
# What `shadway` would be without itself: the same HTTP client, TLS, timer and JSON.
FLOOR = """
reqwest = { version = "0.13.3", default-features = false, features = ["rustls"] }
serde = { version = "1", features = ["derive"] }
serde_json = { version = "1", features = ["raw_value"] }
tokio = { version = "1.44", default-features = false, features = ["time"] }
"""
SHADWAY = f"shadway = {{ path = {json.dumps(str(ROOT))} }}"
SUBJECTS = {
    "shadway": SHADWAY,
    "reqwest, tokio, serde_json": FLOOR,
    "svix": 'svix = "2.9"',
    "octocrab": 'octocrab = "0.54"',
    "aws-sdk-sqs": 'aws-sdk-sqs = "1"',
    "async-stripe": 'async-stripe = { version = "0.41", features = ["runtime-tokio-hyper-rustls"] }',
}
# Nothing that makes one build unlike another's.
CLEAN = {
    name: value
    for name, value in os.environ.items()
    if not name.startswith(("CARGO_PROFILE_", "CARGO_BUILD_", "RUSTC", "RUSTFLAGS", "CARGO_INCREMENTAL"))
}


def measure(dependencies, lock=None):
    """Crates, CPU seconds and seconds on the wall of one cold build; a lock file gives the versions of another's."""
    with tempfile.TemporaryDirectory(dir=scratch()) as folder:
        package = pathlib.Path(folder)
        (package / "src").mkdir()
        (package / "src/lib.rs").touch()
        head = '[package]\nname = "throwaway"\nversion = "0.0.0"\nedition = "2024"\n[workspace]\n[dependencies]\n'
        (package / "Cargo.toml").write_text(head + dependencies)
        if lock:
            shutil.copy(lock, package / "Cargo.lock")
        environment = {**CLEAN, "CARGO_TARGET_DIR": str(package / "target")}

        def cargo(*arguments, **how):
            return subprocess.Popen(["cargo", *arguments], cwd=package, env=environment, text=True, **how)

        if cargo("fetch", "--quiet").wait():
            sys.exit("its crates can't be fetched")
        listed = cargo("tree", "--edges", "normal,build", "--prefix", "none", stdout=subprocess.PIPE)
        tree, _ = listed.communicate()
        crates = {tuple(line.split()[:2]) for line in tree.splitlines() if line} - {("throwaway", "v0.0.0")}
        began = time.monotonic()
        build = cargo("build", "--quiet", "--offline")
        _, status, used = os.wait4(build.pid, 0)
        wall = time.monotonic() - began
        build.returncode = os.waitstatus_to_exitcode(status)
        if build.returncode:
            sys.exit("it does not build")
        return len(crates), used.ru_utime + used.ru_stime, wall


def scratch():
    folder = pathlib.Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target")) / "build-cost"
    folder.mkdir(parents=True, exist_ok=True)
    return folder


def main():
    chosen = sys.argv[1:] or list(SUBJECTS)
    unknown = [name for name in chosen if name not in SUBJECTS]
    if unknown:
        sys.exit(f"there is no {unknown[0]}; these there are: {'; '.join(SUBJECTS)}")
    rustc = subprocess.run(["rustc", "--version"], check=True, capture_output=True, text=True).stdout.strip()
    print(f"{rustc}, {os.cpu_count()} cores, {platform.machine()}\n")
    print("| | crates | CPU seconds | of shadway's | seconds on the wall |\n|---|---|---|---|---|")
    own = None
    for name in chosen:
        crates, cpu, wall = measure(SUBJECTS[name])
        own = own or cpu
        print(f"| {name} | {crates} | {cpu:.0f} | {cpu / own:.2f} | {wall:.0f} |", flush=True)
    print("\nload average now: " + ", ".join(f"{load:.1f}" for load in os.getloadavg()))


if __name__ == "__main__":
    main()
