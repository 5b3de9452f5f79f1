# What editors are told about scenario files must agree with what the loader says.
"""The JSON Schema of scenario files: accepts every shipped scenario, refuses each of sixty mutations of them.

Usage: schema_check.py SCHEMA.json SCENARIO_DIR. Exit code 1 and a line for each that is judged wrongly.
"""
import copy
import json
import pathlib
import sys

import jsonschema
import yaml

# Mutations by path: where the path exists in a scenario, the value is replaced (None deletes the key).
MUTATIONS = [
    (("replisim",), 2), (("replisim",), None), (("name",), None), (("hosts",), None), (("servers",), []),
    (("tables",), "t"), (("workload",), 5), (("observe",), 3), (("observe", "interval"), "50"),
    (("observe", "interval"), "fast"), (("observe", "until"), "soon"), (("observe", "intervall"), "1s"),
    (("subscriptions", "*", "streaming"), "paralel"), (("subscriptions", "*", "streeming"), "on"),
    (("subscriptions", "*", "publication"), None), (("subscriptions", "*", "binary"), "maybe"),
    (("servers", "*", "version"), "seventeen"), (("servers", "*", "host"), None), (("servers", "*", "port"), 5432),
    (("servers", "*", "settings", "logical_decoding_workmem"), "64MB"), (("servers", "*", "settings"), 7),
    (("links", 0, "bandwidth"), "10"), (("links", 0, "bandwidth"), "10Gb"), (("links", 0, "latency"), "0.1"),
    (("links", 0, "between"), "a"), (("tables", "*", "columns"), None), (("tables", "*", "primary_key"), "a"),
    (("tables", "*", "rows"), "many"), (("tables", "*", "replica_identity"), "all"),
    (("tables", "*", "rows"), -1), (("publications", "*", "tables"), "t"),
    (("publications", "*", "server"), None), (("simulation",), "fine"),
]


def places(tree, path):
    """(container, key) of each place that `path` leads to; the last key need not be there."""
    spots = [tree]
    for part in path[:-1]:
        following = []
        for spot in spots:
            if part == "*" and isinstance(spot, dict):
                following += list(spot.values())
            elif isinstance(spot, dict) and part in spot or isinstance(spot, list) and part == 0 and spot:
                following.append(spot[part])
        spots = following
    return [(spot, path[-1]) for spot in spots if isinstance(spot, dict)]


def main():
    schema = json.loads(pathlib.Path(sys.argv[1]).read_text(encoding="utf-8"))
    jsonschema.Draft7Validator.check_schema(schema)
    validator = jsonschema.Draft7Validator(schema)
    wrong, accepted, refused = [], 0, 0
    for file in sorted(pathlib.Path(sys.argv[2]).rglob("*.yaml")):
        if file.parent.name in ("hardware", "bases"):  # machines, and parts of scenarios
            continue
        scenario = yaml.safe_load(file.read_text(encoding="utf-8"))
        errors = sorted(validator.iter_errors(scenario), key=str)
        wrong += [f"{file}: refused: {error.json_path}: {error.message[:200]}" for error in errors[:1]]
        accepted += not errors
        for path, value in MUTATIONS:
            mutant = copy.deepcopy(scenario)
            spots = places(mutant, path)
            if value is None and ("extends" in scenario or not any(key in spot for spot, key in spots)):
                continue  # a part may leave out what it lies over
            for spot, key in spots:
                if value is None:
                    spot.pop(key, None)
                else:
                    spot[key] = value
            if not spots:
                continue
            if validator.is_valid(mutant):
                wrong.append(f"{file}: accepted with {'.'.join(map(str, path))} = {value!r}")
            refused += 1
    print("\n".join(wrong))
    print(f"{accepted} scenarios accepted, {refused} mutants refused or listed above")
    enough = accepted > 30 and refused >= 60
    return 1 if wrong or not enough else 0


if __name__ == "__main__":
    sys.exit(main())
