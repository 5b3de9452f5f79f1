# The messages that typical mistakes give, held against a golden file.
"""Runs the commands of mistakes.txt and compares what they print.

Usage: mistakes.py MISTAKES.txt GOOD.yaml SOURCE_DIR PROGRAM [--write]

An entry of the file:
  ## what somebody did wrong
  - replace OLD with NEW          (in a copy of GOOD.yaml, which the command calls mine.yaml; any number)
  $ replisim check mine.yaml
  what it prints, both streams
  [exit code]
"""
import os
import pathlib
import re
import subprocess
import sys
import tempfile


def entries(text):
    for part in re.split(r"^(?=## )", text, flags=re.MULTILINE)[1:]:
        lines = part.rstrip("\n").splitlines()
        at = 1
        changes = []
        while lines[at].startswith("- replace "):
            changes.append(tuple(re.fullmatch(r"- replace `(.*)` with `(.*)`", lines[at]).groups()))
            at += 1
        yield lines[0][3:], changes, lines[at][2:], "\n".join(lines[at + 1:])


def answer(changes, command, good, source, program):
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        text = good
        for old, new in changes:
            assert text.count(old) == 1, f"'{old}' stands {text.count(old)} times in the good scenario"
            text = text.replace(old, new.replace("\\t", "\t"))
        (folder / "mine.yaml").write_text(text, encoding="utf-8")
        (folder / "bin").mkdir()
        os.symlink(program, folder / "bin" / "replisim")
        for part in ("scenarios", "calibration"):
            os.symlink(source / part, folder / part)
        done = subprocess.run(["bash", "-c", command + " 2>&1"], cwd=folder, text=True, capture_output=True, check=False,
                              env={**os.environ, "PATH": f"{folder / 'bin'}:{os.environ['PATH']}"})
    return f"{done.stdout.rstrip()}\n[{done.returncode}]"


def main():
    file, source, program = (pathlib.Path(argument).resolve() for argument in (sys.argv[1], sys.argv[3], sys.argv[4]))
    good = pathlib.Path(sys.argv[2]).read_text(encoding="utf-8")
    text = file.read_text(encoding="utf-8")
    preface = text.split("## ")[0]
    out, wrong, count = preface, 0, 0
    for title, changes, command, expected in entries(text):
        got = answer(changes, command, good, source, program)
        count += 1
        if got.strip() != expected.strip():
            wrong += 1
            print(f"## {title}\n$ {command}\nexpected:\n{expected.strip()}\nprinted:\n{got}\n")
        replaced = "".join(f"- replace `{old}` with `{new}`\n" for old, new in changes)
        out += f"## {title}\n{replaced}$ {command}\n{got}\n\n"
    if "--write" in sys.argv:
        file.write_text(out.rstrip("\n") + "\n", encoding="utf-8")
        return 0
    print(f"{count} mistakes, {wrong} with another message than the golden one")
    return 1 if wrong or count < 20 else 0


if __name__ == "__main__":
    sys.exit(main())
