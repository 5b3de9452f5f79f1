#!/usr/bin/env bash
# Formats all C++ files, or with --check says which ones are not formatted.
#
# Other releases of clang-format disagree with each other in details: only the one below decides.
set -euo pipefail
cd "$(dirname "$0")/.."

wanted=14
found=$(clang-format --version 2>/dev/null | sed -n 's/.*version \([0-9]*\)\..*/\1/p' || true)
if [[ $found != "$wanted" ]]; then
  echo "format: skipped, as clang-format $wanted is not installed (found: ${found:-none})"
  exit 0
fi
mapfile -d '' files < <(find models sim calibration cli tests \( -name '*.cpp' -o -name '*.hpp' \) -print0 | sort -z)
if [[ ${1:-} == --check ]]; then
  clang-format --dry-run -Werror "${files[@]}"
  echo "format: ${#files[@]} files are formatted"
else
  clang-format -i "${files[@]}"
  echo "format: formatted ${#files[@]} files"
fi
