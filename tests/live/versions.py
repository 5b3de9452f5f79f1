#!/usr/bin/env python3
"""Compares what servers of several versions counted with each other and with their twins: see versions.sh."""
import csv
import json
import pathlib
import sys

COUNTERS = ("spill_count", "spill_bytes", "stream_count", "stream_bytes")
PARALLEL_SINCE, ABORTS_DROPPED_SINCE = 16, 18


def read(folder):
    measured, twins = {}, {}
    with open(folder / "measurements.csv", newline="", encoding="utf-8") as file:
        for row in csv.DictReader(file):
            measured.setdefault(row["experiment"], {})[row["metric"]] = float(row["measured"])
    for name in measured:
        with open(folder / "scenarios" / f"{name}.json", encoding="utf-8") as file:
            twins[name] = json.load(file)["metrics"]
    return measured, twins


def main(work, majors):
    bad, compared = [], 0
    for major in majors:
        measured, twins = read(pathlib.Path(work) / str(major))
        if ("insert-parallel" in measured) != (major >= PARALLEL_SINCE):
            bad.append(f"{major}: streaming = parallel was {'run' if 'insert-parallel' in measured else 'not run'}")
        for name, figures in measured.items():
            depends_on_timing = name.startswith("rollback") and major >= ABORTS_DROPPED_SINCE
            whole = measured["insert-" + name.split("-")[1]]
            for counter in COUNTERS:
                counted, said = figures[counter], twins[name][counter]
                if not depends_on_timing and counted != said:
                    bad.append(f"{major} {name}: {counter} is {counted:.0f}, its twin says {said:.0f}")
                if name.startswith("rollback") and counter.endswith("_bytes"):
                    kept = 0.8 * whole[counter]
                    if not kept * 0.99 <= counted <= whole[counter] * 1.01:
                        bad.append(f"{major} {name}: {counter} is {counted:.0f}, not from {kept:.0f} to "
                                   f"{whole[counter]:.0f}")
                compared += 1
            print(f"{major} {name}: " + ", ".join(f"{counter} {figures[counter]:.0f} ({twins[name][counter]:.0f})"
                                                  for counter in COUNTERS))
    if compared == 0:
        bad.append("nothing was compared")
    for sentence in bad:
        print(f"versions: {sentence}", file=sys.stderr)
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1], [int(major) for major in sys.argv[2:]]))
