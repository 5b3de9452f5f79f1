# Documents that the program writes are what it would write now.
"""Compares the committed schema and references with the program's output, and the schema's line in each scenario.

Usage: generated.py SOURCE_DIR PROGRAM [--write]
"""
import pathlib
import subprocess
import sys

GENERATED = {"scenarios/scenario.schema.json": ["schema"], "docs/scenario-reference.md": ["reference", "scenarios"],
             "docs/cost-profiles.md": ["reference", "profiles"]}
HEADER = "# yaml-language-server: $schema=../scenario.schema.json\n"


def main():
    source, program = pathlib.Path(sys.argv[1]), sys.argv[2]
    wrong = []
    for name, arguments in GENERATED.items():
        text = subprocess.run([program, *arguments], text=True, capture_output=True, check=True).stdout
        if "--write" in sys.argv:
            (source / name).write_text(text, encoding="utf-8")
        elif not (source / name).exists() or (source / name).read_text(encoding="utf-8") != text:
            wrong.append(f"{name}: differs from `replisim {' '.join(arguments)}`; write it anew")
    scenarios = [file for file in sorted((source / "scenarios").rglob("*.yaml"))
                 if file.parent.name not in ("hardware", "bases")]
    wrong += [f"{file.relative_to(source)}: its first line is not {HEADER.strip()}" for file in scenarios
              if not file.read_text(encoding="utf-8").startswith(HEADER)]
    print("\n".join(wrong))
    return 1 if wrong or len(scenarios) < 50 else 0


if __name__ == "__main__":
    sys.exit(main())
