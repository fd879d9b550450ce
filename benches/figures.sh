#!/usr/bin/env bash
# Prints the figures of docs/SPEED.md: time and memory of retime, end to end with
# verification, with and without error bounds and alignment, on simulated
# halo-exchange traces with clock errors.
#
# Machines of one kind differ in speed by up to a factor of two, and one by the
# minute. So each run is followed by one of `otf2-print --silent`, which reads
# and validates the same trace; the ratio of their medians is comparable.
#
#   benches/figures.sh [RUNS]          LARGE=1 for a trace of 1e8 events too,
#                                      MANY=1 for 100,000 locations
set -euo pipefail
cd "$(dirname "$0")/.."

runs=${1:-5}
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT

cargo build --quiet --profile dist --package retime-cli
retime=${CARGO_TARGET_DIR:-target}/dist/retime

generate() { # ranks events
    "$retime" simulate halo --ranks "$1" --events "$2" --seed 1 \
        --offset 100us --drift 2ppm -o "$scratch/trace-$1-$2" --no-truth --quiet
}

# Runs a command; its wall and CPU seconds, and its peak of memory in MB.
used() { # command...
    python3 - "$@" <<'PY'
import os, sys, time
command = sys.argv[1:]
silent = [(os.POSIX_SPAWN_OPEN, 1, os.devnull, os.O_WRONLY, 0)]
start = time.perf_counter()
child = os.posix_spawnp(command[0], command, os.environ, file_actions=silent)
_, status, used = os.wait4(child, 0)
wall = time.perf_counter() - start
# `retime check` says by 1 that there are contradictions.
if os.waitstatus_to_exitcode(status) not in (0, 1):
    sys.exit(f"failed: {' '.join(command)}")
print(f"{wall:.4f} {used.ru_utime + used.ru_stime:.4f} {used.ru_maxrss / 1024:.0f}")
PY
}

median() {
    sort -n | awk '{all[NR] = $1} END {print all[int((NR + 1) / 2)]}'
}

row() { # ranks events label arguments...
    local ranks=$1 events=$2 label=$3 trace=$scratch/trace-$1-$2
    shift 3
    local arguments=("${@/TRACE/$trace}")
    arguments=("${arguments[@]/OUT/$scratch/out}")
    : >"$scratch/ours"
    : >"$scratch/theirs"
    for _ in $(seq "$runs"); do
        rm -rf "$scratch/out"
        used "$retime" "${arguments[@]}" >>"$scratch/ours"
        used otf2-print --silent "$trace/traces.otf2" >>"$scratch/theirs"
    done
    local wall cpu memory theirs
    wall=$(cut -d' ' -f1 "$scratch/ours" | median)
    cpu=$(cut -d' ' -f2 "$scratch/ours" | median)
    memory=$(cut -d' ' -f3 "$scratch/ours" | sort -n | tail -n 1)
    theirs=$(cut -d' ' -f1 "$scratch/theirs" | median)
    awk -v label="$label" -v ranks="$ranks" -v events="$events" -v wall="$wall" -v cpu="$cpu" \
        -v memory="$memory" -v theirs="$theirs" 'BEGIN {
        printf "%-16s %5d %7s %8.3f s %8.3f s %6d MB %8.1f M/s %12.3f s %7.2f\n", label, ranks,
            events, wall, cpu, memory, events / wall / 1e6, theirs, wall / theirs }'
}

printf '%-16s %5s %7s %10s %10s %9s %12s %14s %7s\n' \
    command ranks events wall CPU memory events otf2-print ratio
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
for ranks in 4 16; do
    row "$ranks" 1e7 check check TRACE -q
done
row 4 1e7 "check -bounds" check TRACE -q --bounds off
# Many clocks: what is solved grows with them, not with the events.
generate 256 2.5e6
row 256 2.5e6 correct correct TRACE -o OUT -q
# Very many locations: how many times the CPU time of 10,000 is what 100,000 take.
many() { # locations shape
    local file=$scratch/$2-$1.jsonl
    [ -e "$file" ] || python3 benches/locations.py "$2" "$1" >"$file"
    used "$retime" check "$file" -q | cut -d' ' -f2
}
if [ -n "${MANY:-}" ]; then
    printf '\n%-16s %12s %12s %7s\n' "check of shape" "1e4 CPU" "1e5 CPU" ratio
    for shape in ring chain tree star halo hubs; do
        awk -v shape="$shape" -v few="$(many 10000 "$shape")" -v more="$(many 100000 "$shape")" \
            'BEGIN { printf "%-16s %10.3f s %10.3f s %7.1f\n", shape, few, more, more / few }'
    done
    # Clocks between which no small set lies.
    printf '%-24s %10.3f s\n' "10,000 random" "$(many 10000 random)" "1,000 dense" "$(many 1000 dense)"
fi
# Takes 3 GB of disk and some minutes.
if [ -n "${LARGE:-}" ]; then
    generate 16 1e8
    row 16 1e8 correct correct TRACE -o OUT -q
fi
