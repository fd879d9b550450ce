#!/usr/bin/env bash
# Compares the speed of this working tree with that of another revision.
#
# Both are built as they are installed. They run by turns on the same simulated
# traces, since machines differ in speed by the minute, and what is printed is the
# ratio of one run to the one right before it: of all pairs the median, and the ratio
# of the fastest runs. A ratio above 1 means that this tree is slower.
#
#   benches/compare.sh REV [PAIRS]     EVENTS=1e6 for smaller traces than 1e7 events
set -euo pipefail
cd "$(dirname "$0")/.."

revision=${1:?usage: benches/compare.sh REV [PAIRS]}
pairs=${2:-9}
events=${EVENTS:-1e7}
scratch=$(mktemp -d)
cleanup() {
    git worktree remove --force "$scratch/other" 2>/dev/null || true
    rm -rf "$scratch"
}
trap cleanup EXIT

git worktree add --quiet --detach "$scratch/other" "$revision"
target=$(realpath -m "${CARGO_TARGET_DIR:-target}")
build() { # directory name
    (cd "$1" && CARGO_TARGET_DIR=$target cargo build --quiet --profile dist --package retime-cli)
    cp "$target/dist/retime" "$scratch/$2"
}
build "$scratch/other" before
build . after

# The CPU seconds of a command, which others on the machine disturb least.
seconds() { # command...
    python3 - "$@" <<'PY'
import os, sys
command = sys.argv[1:]
silent = [(os.POSIX_SPAWN_OPEN, 1, os.devnull, os.O_WRONLY, 0)]
child = os.posix_spawnp(command[0], command, os.environ, file_actions=silent)
_, status, used = os.wait4(child, 0)
# `retime check` says by 1 that there are contradictions.
if os.waitstatus_to_exitcode(status) not in (0, 1):
    sys.exit(f"failed: {' '.join(command)}")
print(f"{used.ru_utime + used.ru_stime:.4f}")
PY
}

row() { # label arguments...
    local label=$1
    shift
    for _ in $(seq "$pairs"); do
        rm -rf "$scratch/out"
        local before after
        before=$(seconds "$scratch/before" "$@")
        rm -rf "$scratch/out"
        after=$(seconds "$scratch/after" "$@")
        echo "$before $after"
    done | python3 -c '
import statistics, sys
pairs = [tuple(map(float, line.split())) for line in sys.stdin]
before, after = zip(*pairs)
median = statistics.median(b / a for a, b in pairs)
label = sys.argv[1]
print(f"| {label} | {min(before):.2f} s | {min(after):.2f} s | {median:.3f} | {min(after) / min(before):.3f} |")
' "$label"
}

echo "| command | least CPU, $revision | here | ratio, median of $pairs pairs | of the least |"
echo "|---|---|---|---|---|"
for ranks in 4 16; do
    trace=$scratch/trace-$ranks
    "$scratch/before" simulate halo --ranks "$ranks" --events "$events" --seed 1 \
        --offset 100us --drift 2ppm -o "$trace" --no-truth --quiet
    row "check, $ranks ranks" check "$trace" --bounds off --quiet
    row "correct, $ranks ranks" correct "$trace" -o "$scratch/out" --quiet
    row "correct --method clc, $ranks ranks" \
        correct "$trace" -o "$scratch/out" --method clc --bounds off --quiet
done
