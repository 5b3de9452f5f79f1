# Every command that a document shows is executed.
"""Runs the ```sh blocks of README and docs, each document's in a folder of its own, with the program on the PATH.

Usage: doc_commands.py SOURCE_DIR PROGRAM [--slow]

A comment before a block says how:
  <!-- run with: COMMAND -->     COMMAND is run first: what the reader is supposed to have
  <!-- not run: REASON -->       needs what a test has not, such as a server
  <!-- slow -->                  runs only with --slow (the soak tests)
Exit code 1 where a command fails, or a block is not run and nobody says why.
"""
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import time

LINKED = ("scenarios", "calibration", "docs", "tests", "notebooks")
FENCE = re.compile(r"^ *```(\w*) *$")


def blocks(text):
    """(line, comments before it, code) of each ```sh block."""
    found, comments, code, language, start = [], [], [], None, 0
    for number, line in enumerate(text.splitlines(), 1):
        fence = FENCE.match(line)
        if language is None and fence:
            language, code, start = fence.group(1) or "text", [], number
        elif language is not None and fence:
            if language == "sh":
                found.append((start, comments, "\n".join(code)))
            language, comments = None, []
        elif language is not None:
            code.append(line)
        elif line.startswith("<!--"):
            comments.append(line[4:].split("-->")[0].strip())
        elif line.strip():
            comments = []
    return found


def prepared(folder, source, program):
    """A folder that looks like the source tree to somebody who has the program on the PATH."""
    for name in LINKED:
        os.symlink(source / name, folder / name)
    (folder / "bin").mkdir()
    os.symlink(program, folder / "bin" / "replisim")
    return {**os.environ, "PATH": f"{folder / 'bin'}:{os.environ['PATH']}", "PGDATA": str(folder)}


def run(script, folder, environment):
    done = subprocess.run(["bash", "-e", "-o", "pipefail", "-c", script], cwd=folder, env=environment, text=True,
                          capture_output=True, check=False, stdin=subprocess.DEVNULL)
    return done.returncode, done.stdout + done.stderr


def main():
    source, program = pathlib.Path(sys.argv[1]).resolve(), pathlib.Path(sys.argv[2]).resolve()
    slow = "--slow" in sys.argv[3:]
    counts, failures = {"run": 0, "left to the slow tests": 0, "not run": 0}, 0
    for document in [source / "README.md", source / "MODEL.md", *sorted((source / "docs").glob("*.md")),
                     *sorted((source / "notebooks").glob("*.md"))]:
        with tempfile.TemporaryDirectory() as name:
            folder = pathlib.Path(name)
            environment = prepared(folder, source, program)
            for line, comments, code in blocks(document.read_text(encoding="utf-8")):
                place = f"{document.relative_to(source)}:{line}"
                if any(comment.startswith("not run: ") for comment in comments):
                    counts["not run"] += 1
                    continue
                if "slow" in comments and not slow:
                    counts["left to the slow tests"] += 1
                    continue
                setup = [comment[len("run with: "):] for comment in comments if comment.startswith("run with: ")]
                began = time.monotonic()
                code_of_exit, output = run("\n".join([*setup, code]), folder, environment)
                counts["run"] += 1
                print(f"{place}: {time.monotonic() - began:.1f} s")
                if code_of_exit != 0:
                    failures += 1
                    print(f"{place}: exit code {code_of_exit}\n{code}\n{output[-2000:]}")
    print(", ".join(f"{count} blocks {what}" for what, count in counts.items()))
    return 1 if failures or counts["run"] < 18 else 0


if __name__ == "__main__":
    sys.exit(main())
