#!/usr/bin/env bash
# Runs every benchmark and writes what they say to RESULTS/<machine>.md, with machine, compiler and commit.
#
#   scripts/bench_results.sh BIN RESULTS [name ...]        names: of single benchmarks, as in bench_<name>
#
# The machine's name comes from its processor; MACHINE=<name> gives another.

set -euo pipefail

bin=$1
results=$2
shift 2

processor=$(lscpu 2>/dev/null | sed -n 's/^Model name: *//p' | head -1)
cores=$(nproc)
machine=${MACHINE:-$(echo "${processor:-unknown} $cores cores" | tr '[:upper:]' '[:lower:]' | tr -cs 'a-z0-9' '-' | sed 's/^-//; s/-$//')}

programs=()
if (($# > 0)); then
  for name in "$@"; do programs+=("$bin/bench_$name"); done
else
  for program in "$bin"/bench_*; do [[ -x $program ]] && programs+=("$program"); done
fi
((${#programs[@]} > 0)) || { echo "no benchmark was built in $bin" >&2; exit 1; }

mkdir -p "$results"
report=$(mktemp)
trap 'rm -f "$report"' EXIT
{
  echo "# Measured on ${processor:-an unknown processor}, $cores cores"
  echo
  echo "| | |"
  echo "| --- | --- |"
  echo "| date | $(date -u +%F) |"
  echo "| commit | $(git rev-parse --short HEAD 2>/dev/null || echo unknown)$([[ -z $(git status --porcelain 2>/dev/null) ]] || echo ', with changes') |"
  "$bin/tangere" doctor | sed -n 's/^  compiler  */| compiler | /p; s/^  target  */| target | /p' | sed 's/$/ |/'
  echo "| load at the start | $(cut -d' ' -f1 /proc/loadavg 2>/dev/null || echo unknown) |"
  echo
  echo "Written by \`make bench\`. Peers run in the same program on the same pairs, states and scenes: ratios tell more than times."
} >"$report"
for program in "${programs[@]}"; do
  name=${program##*/}
  echo "== $name"
  printf '\n## %s\n\n```text\n' "$name" >>"$report"
  "$program" 2>&1 | tee -a "$report"
  printf '```\n' >>"$report"
done
mv "$report" "$results/$machine.md"
trap - EXIT
chmod 644 "$results/$machine.md"
echo "written: $results/$machine.md"
