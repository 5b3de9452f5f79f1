#!/usr/bin/env python3
"""Counts the instructions of five fixed scenarios with callgrind and compares them with committed values.

Usage: instructions.py PROGRAM [--update]

A count is that of the program and its forked children from start to end, the dynamic loader included; `help` is
`replisim --help`, what every command pays. A count that is more than 3 % from the committed one is an error: find
out why, say it in the commit, and write the new values with --update. Counts hold for the compiler and the libraries
of Debian 12 named in instructions.json.
"""
import argparse
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
COMMITTED = pathlib.Path(__file__).with_name("instructions.json")
TOLERANCE = 0.03
RUNS = {
    "help": ["--help"],
    "one transaction": ["run", "scenarios/published/streaming_insert.yaml"],
    "OLTP, closed loop": ["run", "scenarios/published/publisher_tps.yaml", "--set", "workload.pgbench.until=5s",
                          "--set", "observe.until=5s"],
    "OLTP, open": ["run", "scenarios/planning/largest_oltp_load.yaml", "--set", "observe.until=20s"],
    "DDL": ["run", "scenarios/published/invalidation_e.yaml", "--set", "workload.open.sessions=50"],
    "spilling": ["run", "scenarios/published/streaming_insert.yaml", "--set", "subscriptions.s.streaming=off"],
}


def count(program, words):
    """Instructions of all processes of one run."""
    with tempfile.TemporaryDirectory() as folder:
        done = subprocess.run(
            ["valgrind", "--tool=callgrind", "--trace-children=yes",
             f"--callgrind-out-file={folder}/callgrind.%p", program] + words + ["--jobs", "1"] * (words[0] == "run"),
            cwd=ROOT, capture_output=True, text=True, env={"PATH": os.environ["PATH"], "LC_ALL": "C"}, check=False)
        if done.returncode != 0:
            sys.exit(f"instructions: {' '.join(words)}: {done.stderr[-600:]}")
        total = 0
        for file in pathlib.Path(folder).iterdir():
            total += sum(int(n) for n in re.findall(r"^(?:summary|totals): (\d+)", file.read_text(), re.M)[-1:])
        return total


def versions():
    """What the counts depend on besides the source."""
    names = ["g++-12", "libc6", "libstdc++6", "libsimgrid3.32", "libfmt9", "libyaml-cpp0.7"]
    out = subprocess.run(["dpkg-query", "-W", "-f=${Package} ${Version}\n"] + names, capture_output=True, text=True,
                         check=False).stdout
    return dict(line.split(" ", 1) for line in out.splitlines())


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("program", type=os.path.abspath)
    parser.add_argument("--update", action="store_true")
    args = parser.parse_args()
    counts = {name: count(args.program, words) for name, words in RUNS.items()}
    committed = json.loads(COMMITTED.read_text()) if COMMITTED.exists() else {"instructions": {}, "packages": {}}
    off = []
    for name, value in counts.items():
        before = committed["instructions"].get(name)
        change = value / before - 1 if before else None
        print(f"{name:<20}{value:>16,}" + (f"{before:>16,} committed {change:+8.2%}" if before else "   not committed"))
        if change is None or abs(change) > TOLERANCE:
            off.append(name)
    if args.update:
        COMMITTED.write_text(json.dumps({"instructions": counts, "packages": versions()}, indent=2) + "\n")
        return 0
    if committed["packages"] != versions():
        print("instructions: these counts are of other packages than the committed ones:", versions())
    if off:
        print(f"instructions: more than {TOLERANCE:.0%} from the committed count: {', '.join(off)}", file=sys.stderr)
    return 1 if off else 0


if __name__ == "__main__":
    sys.exit(main())
