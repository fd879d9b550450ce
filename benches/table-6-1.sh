#!/usr/bin/env bash
# Prints a row for table 6.1 of the thesis (docs/REPRODUCTIONS.md): what the controlled logical
# clock takes on a trace of 16 processes with 56,622 events, on the machine that runs this.
#
#   benches/table-6-1.sh [RUNS]
set -euo pipefail
cd "$(dirname "$0")/.."

runs=${1:-9}
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
cargo build --quiet --profile dist --package retime-cli
retime=${CARGO_TARGET_DIR:-target}/dist/retime
"$retime" simulate halo --ranks 16 --events 56622 --seed 1 --offset 100us --drift 2ppm \
    -o "$scratch/trace" --no-truth --quiet
for run in $(seq "$runs"); do
    rm -rf "$scratch/out"
    "$retime" correct "$scratch/trace" -o "$scratch/out" --method clc --bounds off --quiet \
        --json "$scratch/$run.json"
done
python3 - "$scratch" <<'PY'
import json, pathlib, platform, statistics, sys

scratch = pathlib.Path(sys.argv[1])
files = [path for path in (scratch / "trace").rglob("*") if path.is_file()]
size = sum(path.stat().st_size for path in files)
reports = [json.loads(path.read_text()) for path in sorted(scratch.glob("*.json"))]
events = reports[0]["trace"]["events"]
timing = [report["timing"] for report in reports]


def median(*parts):
    return statistics.median(sum(run[f"{part}_seconds"] for part in parts) for run in timing)


cpu = platform.processor() or platform.machine()
try:
    lines = pathlib.Path("/proc/cpuinfo").read_text().splitlines()
    cpu = next(it.split(":", 1)[1].strip() for it in lines if it.startswith("model name"))
except (OSError, StopIteration):
    pass
print(f"{events:,} events, {size / 1e6:.1f} MB; medians of {len(timing)} runs")
print(
    f"{cpu}: {median('total') - median('verification'):.3f} s, of these "
    f"{median('scan', 'writing'):.3f} s to read and write, "
    f"{median('matching', 'analysis', 'correction'):.3f} s to compute; "
    f"and {median('verification'):.3f} s to verify what was written"
)
PY
