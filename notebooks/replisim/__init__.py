# What notebooks need of replisim: calls the program and returns pandas data frames.
"""Thin by intention: every function is one call of the program.

    import replisim
    run = replisim.run("scenarios/published/streaming_insert.yaml", {"subscriptions.s.streaming": "off"})
    run.metrics["total_s"], run.stages, run.timeline

The program is $REPLISIM, or build/cli/replisim of this source tree, or replisim on the PATH. Scenario files are
seen from the source tree.
"""
import csv
import io
import json
import os
import pathlib
import shutil
import subprocess
import tempfile
from dataclasses import dataclass

import pandas

ROOT = pathlib.Path(__file__).resolve().parents[2]


class ReplisimError(Exception):
    """What the program wrote on standard error."""


def program():
    """The program's path."""
    built = ROOT / "build" / "cli" / "replisim"
    found = os.environ.get("REPLISIM") or (str(built) if built.exists() else shutil.which("replisim"))
    if not found:
        raise ReplisimError("there is no replisim: `make build`, or set REPLISIM to the program")
    return found


def call(*arguments, answers=(0,)):
    """Runs `replisim ARGUMENTS` in the source tree and returns what it prints. `answers`: exit codes that are fine."""
    done = subprocess.run([program(), *map(str, arguments)], cwd=ROOT, text=True, capture_output=True, check=False)
    if done.returncode not in answers:
        raise ReplisimError(done.stderr.strip() or done.stdout.strip())
    return done.stdout


def _settings(settings):
    return [part for path, value in (settings or {}).items() for part in ("--set", f"{path}={value}")]


@dataclass
class Run:
    """One simulation."""

    result: dict  # all of result.json
    timeline: pandas.DataFrame  # samples, indexed by t_s

    @property
    def metrics(self):
        return pandas.Series(self.result["metrics"], name=self.result["scenario"])

    @property
    def stages(self):
        """Shares of the run: busy, starved, blocked."""
        return pandas.DataFrame(self.result["stages"]).T[["busy", "starved", "blocked"]]

    @property
    def lag(self):
        """Where the lag went, in seconds: a row per stage, a column per slot."""
        columns = {name: {stage: figures["mean_s"] for stage, figures in entry["lag_anatomy"]["stages"].items()}
                   for name, entry in self.result["subscriptions"].items() if "lag_anatomy" in entry}
        return pandas.DataFrame(columns)

    @property
    def verdicts(self):
        return pandas.Series({name: entry["verdict"] for name, entry in self.result["subscriptions"].items()})

    @property
    def guesses(self):
        return pandas.DataFrame(self.result["guesses"])


def run(scenario, settings=None, **options):
    """`replisim run`; options as on the command line: replications=10, seed=3, exact=True."""
    with tempfile.TemporaryDirectory() as folder:
        extra = []
        for name, value in options.items():
            extra += [f"--{name.replace('_', '-')}"] + ([] if value is True else [value])
        text = call("run", scenario, *_settings(settings), *extra, "--out", folder, "--format", "json")
        timeline = pandas.read_csv(pathlib.Path(folder) / "timeline.csv", index_col="t_s")
    return Run(json.loads(text), timeline)


def sweep(scenario, vary=None, settings=None):
    """`replisim sweep`: a row per point. `vary`: path to list of values, or to a range as the program takes it."""
    axes = []
    for path, values in (vary or {}).items():
        axes += ["--vary", f"{path}={values if isinstance(values, str) else ','.join(map(str, values))}"]
    return pandas.read_csv(io.StringIO(call("sweep", scenario, *axes, *_settings(settings), "--format", "csv")))


def plan(scenario, settings=None):
    """`replisim plan`: (the answer as one object, a row per setting with its knobs, promises and cost)."""
    answer = json.loads(call("plan", scenario, *_settings(settings), "--format", "json", answers=(0, 1)))
    rows = [{**point["knobs"], **{promise["promise"]: promise["keeps"] for promise in point["promises"]},
             "cost": point["cost"], "limited by": "; ".join(point["binding"])} for point in answer["settings"]]
    return answer, pandas.DataFrame(rows)


def validate(suite):
    """`replisim validate`: a row per cell, predicted beside measured."""
    rows = csv.DictReader(io.StringIO(call("validate", suite, "--format", "csv", answers=(0, 1))))
    frame = pandas.DataFrame(list(rows))
    for column in ("measured", "predicted", "error_pct"):
        frame[column] = pandas.to_numeric(frame[column], errors="coerce")
    return frame


def observe(*paths):
    """`replisim observe`: sources, figures, events, series and findings as one object."""
    return json.loads(call("observe", *paths, "--format", "json"))


def calibrate(spec):
    """`replisim calibrate`: the fit's report as one object."""
    return json.loads(call("calibrate", spec, "--format", "json", answers=(0, 1)))
