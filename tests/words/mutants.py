# Shipped scenarios with a mistake put in: each must be found where it is, and refused by the schema.
"""Misspells a key and spoils a unit in each shipped scenario, and holds `replisim check` and the schema to it.

Usage: mutants.py SOURCE_DIR PROGRAM

Every mutant must be refused with file, line and the word in question; at least sixty of each kind are made.
"""
import json
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

import jsonschema
import yaml

# A key that stands alone or in a flow map; text of names and reasons is left alone.
KEY = re.compile(r"(?:^\s*(?:- )?|[{,]\s*)([a-z][a-z_]{3,}):(?=\s|$)")
UNIT = re.compile(r"(?<=[ :])(\d+(?:\.\d+)?)(kB|MB|GB|ms|us|s|min|h|Gbps|Mbps|MB/s)(?=[\s,}\]]|$)")
UNITLESS_LINES = re.compile(r"^\s*(#|name:|guessed:|[\w.\[\]]+\.[\w.\[\]]+:)")


def field_names(schema):
    names = set()
    for part in schema["definitions"].values():
        for one in [part, *part.get("anyOf", [])]:
            names |= set(one.get("properties", {}))
    return names


def code_lines(text):
    """Lines without comments, names, reasons and the axes of a sweep (texts, which only a point is checked with)."""
    inside_text = False
    for number, line in enumerate(text.splitlines(), 1):
        if re.match(r"\w", line):
            inside_text = line.startswith(("guessed:", "sweep:", "break_even:", "plan:"))
        if not inside_text and not UNITLESS_LINES.match(line):
            yield number, line.split(" #")[0]


PROMISE = re.compile(r"promises:|[<>]=? *[0-9]")


def misspelled(word):
    """The second and the third letter change places; where they are equal, one is doubled."""
    return word[0] + word[2] + word[1] + word[3:] if word[1] != word[2] else word[:2] + word[1:] + "x"


def mutants(text, names):
    """(kind, line, word, new text) of each mistake to be made."""
    lines = text.splitlines(keepends=True)
    keys = [(number, match) for number, line in code_lines(text) for match in KEY.finditer(line)
            if match.group(1) in names and match.group(1) != "extends"]
    # A promise is one string, which the loader takes apart and the schema cannot.
    units = [(number, match) for number, line in code_lines(text) if not PROMISE.search(line)
             for match in UNIT.finditer(line)]
    for kind, places in (("key", keys), ("unit", units)):
        if not places:
            continue
        number, match = places[len(places) // 2]
        line = lines[number - 1]
        if kind == "key":
            word = misspelled(match.group(1))
            line = line[:match.start(1)] + word + line[match.end(1):]
        else:
            word = match.group(1) + "qq"
            line = line[:match.start()] + word + line[match.end():]
        yield kind, number, word, "".join(lines[:number - 1] + [line] + lines[number:])


def main():
    source, program = pathlib.Path(sys.argv[1]).resolve(), sys.argv[2]
    schema = json.loads(subprocess.run([program, "schema"], text=True, capture_output=True, check=True).stdout)
    validator, names = jsonschema.Draft7Validator(schema), field_names(schema)
    wrong, count, located = [], {"key": 0, "unit": 0}, 0
    with tempfile.TemporaryDirectory() as folder:
        tree = pathlib.Path(folder) / "scenarios"
        shutil.copytree(source / "scenarios", tree)
        made = []
        for file in sorted(tree.rglob("*.yaml")):
            if file.parent.name in ("hardware", "bases"):
                continue
            for kind, line, word, text in mutants(file.read_text(encoding="utf-8"), names):
                mutant = file.with_name(f"{file.stem}-{kind}.yaml")
                mutant.write_text(text, encoding="utf-8")
                made.append((mutant, kind, line, word))
                count[kind] += 1
                if validator.is_valid(yaml.safe_load(text)):
                    wrong.append(f"{mutant.name}:{line}: the schema accepts '{word}'")
        done = subprocess.run([program, "check", *(str(mutant) for mutant, *_ in made)], text=True, capture_output=True,
                              check=False)
        messages = done.stdout.splitlines()
        for mutant, kind, line, word in made:
            named = word if kind == "key" else "'qq'"
            if any(text.startswith(f"{mutant}:{line}:") and named in text for text in messages):
                located += 1
            else:
                own = [text for text in messages if str(mutant) in text]
                wrong.append(f"{mutant.name}:{line}: '{word}' is not found there; said: {own[:2]}")
    print("\n".join(wrong))
    print(f"{count['key']} misspelled keys and {count['unit']} spoiled units; {located} located and named")
    return 1 if wrong or done.returncode != 2 or located < 120 else 0


if __name__ == "__main__":
    sys.exit(main())
