#!/usr/bin/env python3
"""Judges predictions.csv of `replisim lab`: counters of what was not fitted to are exact, CPU shares within a third.

Exit code 1 for counters, 3 where shares alone are off: what else the machine did may be why."""
import csv
import sys

COUNTERS = ("spill_count", "spill_bytes", "stream_count", "stream_bytes")
CPU = ("cpu_pub.backend_s", "cpu_pub.walsender_s", "cpu_sub.apply_worker_s", "cpu_sub.parallel_apply_worker_s")
LARGEST_SHARE_ERROR = 1 / 3


def main(path):
    measured, predicted = {}, {}
    with open(path, newline="", encoding="utf-8") as file:
        for row in csv.DictReader(file):
            if row["use"] != "predict" or row["predicted"] == "":
                continue
            measured.setdefault(row["experiment"], {})[row["metric"]] = float(row["measured"])
            predicted.setdefault(row["experiment"], {})[row["metric"]] = float(row["predicted"])
    bad, off, counters, shares, errors = [], [], 0, 0, []
    for name, figures in measured.items():
        for counter in COUNTERS:
            if counter not in figures:
                continue
            counters += 1
            if figures[counter] != predicted[name][counter]:
                bad.append(f"{name}: {counter} is {figures[counter]:.0f}, predicted {predicted[name][counter]:.0f}")
        processes = [metric for metric in CPU if metric in figures]
        whole = sum(figures[metric] for metric in processes)
        foretold = sum(predicted[name][metric] for metric in processes)
        for metric in processes:
            shares += 1
            share, said = figures[metric] / whole, predicted[name][metric] / foretold
            errors.append(abs(said / share - 1))
            if errors[-1] > LARGEST_SHARE_ERROR:
                off.append(f"{name}: share of {metric} is {share:.1%}, predicted {said:.1%}")
    if counters == 0 or shares == 0:
        bad.append(f"{path} holds {counters} counters and {shares} shares: nothing was compared")
    else:
        print(f"{counters} counters compared, {shares} CPU shares off by {sum(errors) / shares:.1%} on average, "
              f"{max(errors):.1%} at most")
    for sentence in bad + off:
        print(f"live pair: {sentence}", file=sys.stderr)
    return 1 if bad else 3 if off else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
