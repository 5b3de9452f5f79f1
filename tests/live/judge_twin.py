#!/usr/bin/env python3
"""Compares a run of a collected cluster's twin with what was collected: TPS, and lag as pg_stat_replication has it."""
import json
import pathlib
import statistics
import sys

MOST = 0.2
# replay_lag is from the sending of a commit to the answer that it was applied.
STAGES = ("send_queue", "transfer", "receive_queue", "apply", "commit")


def seconds(interval):
    hours, minutes, rest = interval.split(":")
    return 3600 * int(hours) + 60 * int(minutes) + float(rest)


def main(folder, run):
    facts, lags = [], []
    for line in (pathlib.Path(folder) / "cluster.pub.views").read_text(encoding="utf-8").splitlines():
        entry = json.loads(line)
        if entry["view"] == "facts":
            facts.append(entry["row"])
        elif entry["view"] == "pg_stat_replication" and entry["row"]["replay_lag"]:
            lags.append(seconds(entry["row"]["replay_lag"]))
    decoded = [sum(fact["decoded"].values()) for fact in facts]
    tps = (decoded[-1] - decoded[0]) / (facts[-1]["taken_at"] - facts[0]["taken_at"])
    with open(run, encoding="utf-8") as file:
        said = json.load(file)
    (subscription,) = said["subscriptions"].values()
    stages = subscription["lag_anatomy"]["stages"]
    pairs = {
        "TPS": (tps, said["metrics"]["tps"]),
        "replay lag, ms": (1e3 * statistics.mean(lags), 1e3 * sum(stages[stage]["mean_s"] for stage in STAGES)),
    }
    bad = False
    for name, (measured, predicted) in pairs.items():
        error = predicted / measured - 1
        bad = bad or abs(error) > MOST
        print(f"{name}: {measured:.4g} measured, {predicted:.4g} predicted, {error:+.1%}")
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
