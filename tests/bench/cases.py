"""The whole runs that bench.py measures: name, size, command, and for what its time grows with."""

SEED = "scenarios/published/streaming_insert.yaml"
ROWS = "workload.batch.transaction[0].rows"
TPS = "scenarios/published/publisher_tps.yaml"
DDL = "scenarios/published/invalidation_e.yaml"

DAY = """replisim: 1
name: a day of mixed load
profile: lab-2core
hosts: {db: {machine: xeon-e7-4890-v2}, replica: {machine: xeon-e7-4890-v2}}
servers: {pub: {host: db, version: 17, settings: {max_wal_size: 100GB}}, sub: {host: replica, version: 17}}
links: [{between: [db, replica], bandwidth: 10Gbps, latency: 0.2ms}]
tables:
  orders: {columns: {id: {type: int8, value: sequence}, v: text(40)}, primary_key: [id]}
  facts: {columns: {id: {type: int8, value: sequence}, v: text(40)}, primary_key: [id]}
publications: {p: {server: pub, tables: [orders, facts]}}
subscriptions: {s: {server: sub, publication: p, streaming: parallel}}
workload:
  oltp: {server: pub, rate: 10000/s, arrivals: poisson, transaction: [{insert: orders, rows: 1}]}
  batch: {server: pub, at: 10min, every: 1h, transaction: [{insert: facts, rows: 1000000}]}
observe: {until: 1d, interval: 1min}
"""


def subscriptions(count):
    """So many subscriptions of one publication, all of one load of 1,000 transactions a second."""
    names = [f"s{i:03}" for i in range(count)]
    lines = ["replisim: 1", f"name: {count} subscriptions", "profile: lab-2core",
             "hosts: {hub: {machine: lab-2core, cores_per_socket: 300},"
             " edge: {machine: lab-2core, cores_per_socket: 300}}",
             "servers:", "  pub: {host: hub, version: 17, settings: {max_replication_slots: 200, max_wal_senders: 200}}",
             "  sub: {host: edge, version: 17, settings: {max_replication_slots: 200,"
             " max_logical_replication_workers: 200, max_worker_processes: 400}}",
             "links: [{between: [hub, edge], bandwidth: 100Gbps, latency: 1ms}]",
             "tables: {t: {columns: {id: {type: int8, value: sequence}, v: text(40)}, primary_key: [id]}}",
             "publications: {p: {server: pub, tables: [t]}}", "subscriptions:"]
    lines += [f"  {name}: {{server: sub, publication: p, streaming: on}}" for name in names]
    lines += ["workload: {w: {server: pub, rate: 1000/s, arrivals: poisson, transaction: [{insert: t, rows: 1}]}}",
              "observe: {until: 1min, interval: 1s}", ""]
    return "\n".join(lines)


def server_log(path, megabytes):
    """A server's log with log_min_duration_statement = 0."""
    with open(path, "w", encoding="utf-8") as out:
        i = 0
        while out.tell() < megabytes * 1e6 if i % 1000 == 0 else True:
            s = i // 50
            out.write(f"2026-01-01 {s // 3600 % 24:02}:{s // 60 % 60:02}:{s % 60:02}.{i % 1000:03} UTC [{1000 + i % 50}]"
                      f" LOG:  duration: {i % 9}.{i % 1000:03} ms  statement: UPDATE pgbench_accounts SET abalance ="
                      f" abalance + {i % 4000} WHERE aid = {i};\n")
            i += 1


def cases(folder, quick):
    """(family, size or None, words after the program's name); a family of several sizes gets an exponent."""
    def written(name, text):
        path = folder / name
        path.write_text(text, encoding="utf-8")
        return str(path)

    out = []
    for millions in (5, 50, 500):
        out.append(("one transaction, rows", millions * 10**6, ["run", SEED, "--set", f"{ROWS}={millions}000000"]))
    out.append(("table of 42 cells", None, ["validate", "seed-streaming", "--jobs", "1"]))
    for seconds in (15, 120) if quick else (15, 30, 60, 120):
        until = ["--set", f"workload.pgbench.until={seconds}s", "--set", f"observe.until={seconds}s"]
        out.append(("OLTP 57,000 TPS, seconds", seconds, ["run", TPS] + until))
        if seconds <= 30:
            out.append(("the same --exact, seconds", seconds, ["run", TPS, "--exact"] + until))
    out.append(("the same --precision 1%", None, ["run", TPS, "--precision", "1%", "--jobs", "1"]))
    for count in (1, 8, 64) if quick else (1, 2, 4, 8, 16, 32, 64, 128):
        out.append(("subscriptions", count, ["run", written(f"subscriptions_{count}.yaml", subscriptions(count))]))
    for count in (50, 500, 2000) if quick else (50, 100, 500, 1000, 2000):
        out.append(("open transactions with DDL", count, ["run", DDL, "--set", f"workload.open.sessions={count}"]))
    out.append(("a day of mixed load", None, ["run", written("day.yaml", DAY)]))
    for points in (10, 40) if quick else (10, 40, 160):
        out.append(("sweep, points", points, ["sweep", SEED, "--jobs", "1", "--format", "csv", "--vary",
                    f"servers.pub.settings.logical_decoding_work_mem=64kB..1GB/{points}/log", "--vary",
                    "subscriptions.s.streaming=off"]))
    out.append(("calibration of seed-1", None, ["calibrate", "calibration/specs/seed1-host.yaml", "--jobs", "1",
                "--out", str(folder / "profile.yaml")]))
    for megabytes in (10, 100):
        path = folder / f"server_{megabytes}.log"
        server_log(path, megabytes)
        out.append(("log reading, MB", megabytes, ["observe", str(path)]))
    return out
