#!/usr/bin/env python3
"""Writes the validation report, in Markdown: every suite of `replisim validate`, predicted beside measured.

Usage: scripts/validation_report.py PROGRAM > docs/validation.md
"""
import csv
import io
import json
import subprocess
import sys

MOST_ROWS = 60


def call(*arguments):
    done = subprocess.run([sys.argv[1], *arguments], text=True, capture_output=True, check=False)
    if done.returncode not in (0, 1):
        sys.exit(f"replisim {' '.join(arguments)}: {done.stderr}")
    return done.stdout, done.returncode


def number(text):
    try:
        return f"{float(text):.5g}"
    except ValueError:
        return text


def table(rows):
    columns = list(rows[0])
    out = ["| " + " | ".join(columns) + " |", "|" + " --- |" * len(columns)]
    out += ["| " + " | ".join(number(row[column] or "").replace("|", "\\|") for column in columns) + " |"
            for row in rows[:MOST_ROWS]]
    if len(rows) > MOST_ROWS:
        out.append(f"\nand {len(rows) - MOST_ROWS} more: `--format csv`")
    return "\n".join(out)


def section(suite, description):
    rows = list(csv.DictReader(io.StringIO(call("validate", suite, "--format", "csv")[0])))
    text, code = call("validate", suite)
    bars = [line for line in text.splitlines() if line.startswith(("ok  ", "FAIL", "short", "info"))]
    out = f"\n## {suite}\n\n{description[0].upper()}{description[1:]}. "
    out += "**All bars met.**\n" if code == 0 else "**Short of a bar.**\n"
    if bars:
        out += "\n```text\n" + "\n".join(bars) + "\n```\n"
    return out + ("\n" + table(rows) + "\n" if rows else "")


def main():
    suites = json.loads(call("validate", "--format", "json")[0])["suites"]
    print("# Validation report\n\nWritten by `make validation` (`scripts/validation_report.py`): every suite of "
          "`replisim validate` with this version of\nthe model. Where the measurements come from: "
          "[calibration/data/PROVENANCE.md](../calibration/data/PROVENANCE.md).")
    for suite in suites:
        if suite["suite"] != "reports":
            print(section(suite["suite"], suite["description"]), end="")
    print("\n## reports\n\nAnswers in words and not cells: `replisim validate reports` prints them.")


if __name__ == "__main__":
    main()
