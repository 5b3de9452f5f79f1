#!/usr/bin/env python3
"""Measures whole runs of replisim and the same pipeline written the plain way; prints a table, writes JSON.

Usage: bench.py PROGRAM PLAIN_PIPELINE [--json FILE] [--repeat N] [--only TEXT] [--quick]

Every command runs N times (default 3), the rounds interleaved: a busy moment of the machine touches all cases alike.
Figures are medians. CPU time is that of the program and of all its children; peak memory is the largest of any of
them, less what the libraries take by themselves: that of `replisim --help`, and for commands that simulate, which load
SimGrid, that of a run of a single row. The same two are their starts. Events are those the engine hashes into
its fingerprint (`events` of manifest.json): runs alone report them.
"""
import argparse
import json
import math
import os
import pathlib
import statistics
import subprocess
import sys
import tempfile
import time

import cases

ROOT = pathlib.Path(__file__).resolve().parents[2]
TOLERANCE = 0.02  # of simulated totals, ours and the plain way's
PLAIN_ROWS_PER_MESSAGE = 357  # of 184 bytes in 64 kB
SIMULATE = ("run", "sweep", "validate", "calibrate")
SMALLEST = ["run", cases.SEED, "--set", f"{cases.ROWS}=1", "--jobs", "1"]
PLAIN_OPTIONS = ["--log=root.thres:critical", "--cfg=network/model:CM02"]


def measure(words, limit_s=600):
    """Wall and CPU seconds, peak kB, standard output; ends the measurement when the command fails."""
    begin = time.monotonic()
    with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err:
        child = subprocess.Popen(["timeout", str(limit_s)] + words, stdout=out, stderr=err, cwd=ROOT)
        _, status, usage = os.wait4(child.pid, 0)
        child.returncode = os.waitstatus_to_exitcode(status)
        wall_s = time.monotonic() - begin
        out.seek(0)
        err.seek(0)
        if child.returncode not in (0, 1):
            sys.exit(f"bench: {' '.join(words)}: exit code {child.returncode}: {err.read().decode()[-400:]}")
        return {"wall_s": wall_s, "cpu_s": usage.ru_utime + usage.ru_stime, "peak_kb": usage.ru_maxrss,
                "out": out.read().decode()}


def median_of(samples):
    return {key: statistics.median(s[key] for s in samples) for key in ("wall_s", "cpu_s", "peak_kb")}


def exponent(sizes, values):
    """Slope of log(value) over log(size), least squares."""
    xs, ys = [math.log(s) for s in sizes], [math.log(v) for v in values]
    x0, y0 = statistics.mean(xs), statistics.mean(ys)
    return sum((x - x0) * (y - y0) for x, y in zip(xs, ys)) / sum((x - x0) ** 2 for x in xs)


def run_round(program, todo, folder, samples):
    for index, (_, _, words) in enumerate(todo):
        if words[0] == "calibrate" and samples[index]:
            continue  # minutes: once
        print(f"\r{index + 1} of {len(todo)}: {words[:2]}", end="\r", file=sys.stderr, flush=True)
        extra = ["--out", str(folder / f"out_{index}"), "--format", "csv"] if words[0] == "run" else []
        samples[index].append(measure([program] + words + extra))
    samples[-2].append(measure([program] + SMALLEST))
    samples[-1].append(measure([program, "--help"]))


def row_of(case, figures, bases, folder, index):
    family, size, words = case
    base = bases["run" if words[0] in SIMULATE else "help"]
    row = {"family": family, "size": size, "command": words, **figures}
    row["peak_mb_beyond_start"] = (row.pop("peak_kb") - base["peak_kb"]) / 1024
    row["cpu_s_beyond_start"] = max(1e-4, row["cpu_s"] - base["cpu_s"])
    manifest = folder / f"out_{index}" / "manifest.json"
    if manifest.exists():
        run = json.loads(manifest.read_text())
        row["events"] = run["events"]
        row["simulated_s"] = sum(r["simulated_s"] for r in run["replications"])
        row["simulated_per_wall"] = row["simulated_s"] / row["wall_s"]
        row["simulated_per_cpu"] = row["simulated_s"] / row["cpu_s"]
        row["ns_per_event"] = row["cpu_s_beyond_start"] / run["events"] * 1e9
    return row


def print_table(rows, bases):
    print(f"{'case':<30}{'size':>11}{'wall s':>9}{'CPU s':>9}{'sim s':>10}{'sim/wall':>10}{'sim/CPU':>10}{'events':>10}"
          f"{'ns/event':>10}{'MB':>7}")
    for r in rows:
        def cell(key, form):
            return format(r[key], form) if key in r and r[key] is not None else "-"
        print(f"{r['family']:<30}{cell('size', ','):>11}{r['wall_s']:>9.3f}{r['cpu_s']:>9.3f}"
              f"{cell('simulated_s', '.1f'):>10}{cell('simulated_per_wall', '.0f'):>10}"
              f"{cell('simulated_per_cpu', '.0f'):>10}{cell('events', ','):>10}{cell('ns_per_event', ',.0f'):>10}"
              f"{r['peak_mb_beyond_start']:>7.1f}")
    for name, base in (("a run of one row", bases["run"]), ("replisim --help", bases["help"])):
        print(f"{name:<30}{'':>11}{base['wall_s']:>9.3f}{base['cpu_s']:>9.3f}"
              f"   {base['peak_kb'] / 1024:.1f} MB, which are taken off above")


def exponents_of(rows):
    out = {}
    for family in dict.fromkeys(r["family"] for r in rows):
        some = [r for r in rows if r["family"] == family and r["size"]]
        if len(some) > 1:
            out[family] = {"cpu": exponent([r["size"] for r in some], [r["cpu_s_beyond_start"] for r in some])}
            if all("events" in r for r in some):
                out[family]["events"] = exponent([r["size"] for r in some], [r["events"] for r in some])
    return out


def result_of(program, words):
    return json.loads(subprocess.run([program] + words + ["--format", "json"], cwd=ROOT, check=True,
                                     capture_output=True, text=True).stdout)


def plain_transaction(program, rows):
    """Words of both, and the figures that must agree; the costs are what our run says each process has worked."""
    words = ["run", cases.SEED, "--set", f"{cases.ROWS}={rows}"]
    metrics = result_of(program, words)["metrics"]
    costs = [metrics[f"cpu_{process}_s"] / rows for process in
             ("pub.backend", "pub.walsender", "sub.apply_worker", "sub.parallel_apply_worker")]
    plain = ["transaction", str(rows), str(PLAIN_ROWS_PER_MESSAGE)] + [repr(c) for c in costs]
    return words, plain, {"total_s": metrics["total_s"]}


def plain_clients(program, seconds):
    words = ["run", cases.TPS, "--set", f"workload.pgbench.until={seconds}s", "--set", f"observe.until={seconds}s"]
    result = result_of(program, words)
    metrics, clients = result["metrics"], 60
    cpu_s = metrics["transaction_cpu_pub.backend_s"]
    costs = [cpu_s, clients / metrics["tps"] - cpu_s, metrics["cpu_pub.walsender_s"] / metrics["total_txns"],
             metrics["cpu_sub.apply_worker_s"] / (metrics["apply_tps"] * seconds)]
    plain = ["clients", str(clients), str(seconds)] + [repr(c) for c in costs]
    return words, plain, {"begun": metrics["tps"] * seconds, "done": metrics["apply_tps"] * seconds}


def side_by_side(program, plain_program, name, prepared, repeat):
    """Both ways in turn; their totals must agree. CPU times are those beyond each program's own start."""
    words, plain_words, expected = prepared
    ours, exact, plain, start, empty = [], [], [], [], []
    for _ in range(repeat):
        ours.append(measure([program] + words))
        if "clients" in plain_words:
            exact.append(measure([program] + words + ["--exact"]))
        plain.append(measure([plain_program] + plain_words + PLAIN_OPTIONS))
        start.append(measure([program] + SMALLEST))
        empty.append(measure([plain_program, "transaction", "1", "1", "0", "0", "0"] + PLAIN_OPTIONS))
    seen = json.loads(plain[0]["out"])
    totals = {key: {"ours": value, "plain": seen[key], "difference": seen[key] / value - 1}
              for key, value in expected.items()}
    ours_s = max(1e-4, median_of(ours)["cpu_s"] - median_of(start)["cpu_s"])
    plain_s = median_of(plain)["cpu_s"] - median_of(empty)["cpu_s"]
    row = {"name": name, "totals": totals, "ours_cpu_s": ours_s, "plain_cpu_s": plain_s, "ratio": plain_s / ours_s}
    if exact:
        row["exact_cpu_s"] = max(1e-4, median_of(exact)["cpu_s"] - median_of(start)["cpu_s"])
        row["ratio_exact"] = plain_s / row["exact_cpu_s"]
    row["agree"] = all(abs(t["difference"]) <= TOLERANCE for t in totals.values())
    return row


def print_plain(row):
    totals = ", ".join(f"{key} {t['ours']:.6g} and {t['plain']:.6g} ({t['difference']:+.2%})"
                       for key, t in row["totals"].items())
    exact = f", --exact {row['exact_cpu_s']:.3f} ({row['ratio_exact']:.1f} times)" if "ratio_exact" in row else ""
    print(f"{row['name']}: CPU s {row['ours_cpu_s']:.3f}, plain {row['plain_cpu_s']:.3f} ({row['ratio']:.1f} times)"
          f"{exact}; ours and plain: {totals}{'' if row['agree'] else '  DO NOT AGREE'}")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("program", type=os.path.abspath)
    parser.add_argument("plain", type=os.path.abspath)
    parser.add_argument("--json", default="")
    parser.add_argument("--repeat", type=int, default=3)
    parser.add_argument("--only", default="", help="cases whose name contains this")
    parser.add_argument("--skip", default="", help="leave out cases whose name contains this")
    parser.add_argument("--quick", action="store_true", help="fewer sizes")
    args = parser.parse_args()
    load_before = os.getloadavg()[0]
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        todo = [c for c in cases.cases(folder, args.quick) if args.only in c[0] and not (args.skip and args.skip in c[0])]
        samples = [[] for _ in range(len(todo) + 2)]
        for _ in range(args.repeat):
            run_round(args.program, todo, folder, samples)
        bases = {"run": median_of(samples[-2]), "help": median_of(samples[-1])}
        rows = [row_of(c, median_of(s), bases, folder, i) for i, (c, s) in enumerate(zip(todo, samples))]
    print_table(rows, bases)
    growth = exponents_of(rows)
    print("\ngrowth, value ~ size^exponent (CPU time beyond the start of the program)")
    for family, e in growth.items():
        events = f"   events {e['events']:5.2f}" if "events" in e else ""
        print(f"  {family:<30} CPU {e['cpu']:5.2f}{events}")
    print(f"\nthe plain way, same costs (totals agree within {TOLERANCE:.0%})")
    plain = [side_by_side(args.program, args.plain, f"one transaction of {n:,} rows", plain_transaction(args.program, n),
                          args.repeat) for n in (5_000_000, 50_000_000)]
    plain.append(side_by_side(args.program, args.plain, "OLTP at 57,000 TPS, 10 s", plain_clients(args.program, 10),
                              args.repeat))
    for row in plain:
        print_plain(row)
    load = {"before": load_before, "after": os.getloadavg()[0], "cpus": os.cpu_count()}
    print(f"\nload of the machine {load['before']:.1f} before, {load['after']:.1f} after, {load['cpus']} CPUs")
    if args.json:
        pathlib.Path(args.json).write_text(json.dumps({"rows": rows, "starts": bases, "growth": growth, "plain": plain,
                                                       "load": load}, indent=1) + "\n", encoding="utf-8")
    return 0 if all(row["agree"] for row in plain) else 1


if __name__ == "__main__":
    sys.exit(main())
