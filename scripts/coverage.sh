#!/usr/bin/env bash
# Which lines of models/, sim/ and calibration/ the tests run: builds with gcov into build-cov, runs the unit tests
# and the program's own, and sums up. Fails below COVERAGE_LEAST percent of lines (default 90) in one of the
# three.
#
# Usage: scripts/coverage.sh [JOBS]
set -euo pipefail
cd "$(dirname "$0")/.."

jobs=${1:-$(nproc)}
least=${COVERAGE_LEAST:-90}
folder=build-cov
command -v gcovr >/dev/null || {
  echo "coverage: gcovr is not installed (Debian: gcovr)" >&2
  exit 2
}
# What is counted is optimised a little, the tests are not.
cmake -S . -B $folder -G Ninja -DCMAKE_BUILD_TYPE=None -DCMAKE_CXX_FLAGS=-O0 -DREPLISIM_COVERAGE=ON >/dev/null
cmake --build $folder --parallel "$jobs"
find $folder -name '*.gcda' -delete
ctest --test-dir $folder -j "$jobs" --timeout 900 -R '^(test_|statements)' || echo "coverage: some tests failed"
gcovr --root . --object-directory $folder --exclude-unreachable-branches --exclude-throw-branches -j "$jobs" \
  --filter '(models|sim|calibration)/' --exclude 'calibration/live/' \
  --json $folder/coverage.json --html-details $folder/coverage.html --txt $folder/coverage.txt
python3 - $folder/coverage.json "$least" <<'EOF'
import json, sys

covered, lines = {}, {}
for file in json.load(open(sys.argv[1]))["files"]:
    room = file["file"].split("/")[0]
    for line in file["lines"]:
        if line.get("gcovr/noncode"):
            continue
        lines[room] = lines.get(room, 0) + 1
        covered[room] = covered.get(room, 0) + (line["count"] > 0)
low = False
for room in sorted(lines):
    percent = 100 * covered[room] / lines[room]
    low = low or percent < float(sys.argv[2])
    print(f"coverage: {room:12} {percent:5.1f} % of {lines[room]} lines")
sys.exit(low)
EOF
