#!/usr/bin/env bash
# Prints the figures of the README: time and memory of `retime correct`, end to
# end with verification, with and without error bounds and alignment, on
# simulated halo-exchange traces with clock errors.
#
#   benches/figures.sh [RUNS]
set -euo pipefail
cd "$(dirname "$0")/.."

runs=${1:-5}
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT

cargo build --quiet --profile dist --package retime-cli

generate() { # ranks events
    target/dist/retime simulate halo --ranks "$1" --events "$2" --seed 1 \
        --offset 100us --drift 2ppm -o "$scratch/trace-$1-$2" --no-truth --quiet
}

# Median wall seconds, its CPU seconds, and the largest peak of memory in MB.
measure() { # trace arguments...
    local trace=$1
    shift
    for _ in $(seq "$runs"); do
        rm -rf "$scratch/out"
        python3 - "$scratch/out" "$trace" "$@" <<'PY'
import os, sys, time
out, trace, *rest = sys.argv[1:]
command = ["target/dist/retime"] + [word.replace("TRACE", trace).replace("OUT", out) for word in rest]
start = time.perf_counter()
child = os.posix_spawn(command[0], command, os.environ)
_, _, used = os.wait4(child, 0)
wall = time.perf_counter() - start
print(f"{wall:.3f} {used.ru_utime + used.ru_stime:.3f} {used.ru_maxrss / 1024:.0f}")
PY
    done | sort -n | awk '{w[NR]=$1; c[NR]=$2; if ($3>m) m=$3} END {i=int((NR+1)/2); print w[i], c[i], m}'
}

row() { # ranks events label arguments...
    local ranks=$1 events=$2 label=$3
    shift 3
    read -r wall cpu memory < <(measure "$scratch/trace-$ranks-$events" "$@")
    printf '%-16s %5s %7s %8s s %8s s %6s MB %8.1f M events/s\n' "$label" "$ranks" "$events" \
        "$wall" "$cpu" "$memory" "$(awk -v e="$events" -v w="$wall" 'BEGIN {print e / w / 1e6}')"
}

printf '%-16s %5s %7s %10s %10s %9s\n' command ranks events wall CPU memory
for events in 1e5 1e6 1e7; do
    generate 4 "$events"
    row 4 "$events" correct correct TRACE -o OUT -q
done
generate 16 1e7
row 16 1e7 correct correct TRACE -o OUT -q
for ranks in 4 16; do
    row "$ranks" 1e7 "correct -bounds" correct TRACE -o OUT -q --bounds off
    row "$ranks" 1e7 "correct clc" correct TRACE -o OUT -q --bounds off --method clc
done
row 4 1e7 check check TRACE -q
row 4 1e7 "check -bounds" check TRACE -q --bounds off
