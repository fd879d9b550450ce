#!/usr/bin/env bash
# Prints the figures of docs/PYTHON.md: how long all events of a trace take to Arrow, to
# pandas, to polars and to Parquet, with which memory, and the same by the Python reader of
# OTF2 (pip install otf2, version 3.2), where that can be had.
#
#   benches/python.sh [TRACE]          a simulated one of 16 ranks and 1e7 events if not given
set -euo pipefail
cd "$(dirname "$0")/.."

scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT

make --no-print-directory python PYTHON_PROFILE=dist
python3 -m venv "$scratch/venv"
python=$scratch/venv/bin/python
"$python" -m pip install --quiet "${CARGO_TARGET_DIR:-target}"/python/wheels/retime-*.whl pyarrow pandas polars psutil
"$python" -m pip install --quiet otf2==3.2 || echo "otf2 3.2 cannot be installed here: no comparison with it" >&2

trace=${1:-$scratch/trace/traces.otf2}
if [ $# = 0 ]; then
    "$scratch/venv/bin/retime" simulate halo --ranks 16 --events 1e7 --seed 1 \
        --offset 100us --drift 2ppm -o "$scratch/trace" --no-truth --quiet
fi

# Each in a process of its own, so that none has memory of another.
for what in arrow pandas polars parquet "corrected to arrow"; do
    "$python" - "$what" "$trace" "$scratch/events.parquet" <<'PY'
import sys, threading, time
import pandas, polars, psutil, pyarrow, pyarrow.parquet
import retime

what, path, parquet = sys.argv[1:]
trace = retime.open(path)
process = psutil.Process()
before = peak = process.memory_info().rss
done = threading.Event()

def look():
    global peak
    while not done.wait(0.002):
        peak = max(peak, process.memory_info().rss)

watcher = threading.Thread(target=look)
watcher.start()
begin = time.monotonic()
if what == "arrow":
    table = trace.events().to_pyarrow()
    rows, size = table.num_rows, table.nbytes
elif what == "pandas":
    table = trace.events().to_pandas()
    rows, size = len(table), int(table.memory_usage().sum())
elif what == "polars":
    table = trace.events().to_polars()
    rows, size = table.height, table.estimated_size()
elif what == "parquet":
    trace.events().to_parquet(parquet)
    rows, size = pyarrow.parquet.read_metadata(parquet).num_rows, None
else:
    table = trace.corrected().events().to_pyarrow()
    rows, size = table.num_rows, table.nbytes
took = time.monotonic() - begin
done.set()
watcher.join()
used = peak - before
of_table = f", {used / size:.2f} times the table" if size else ""
print(f"{what:<20} {rows} events {took:6.2f} s {used / 1e6:6.0f} MB{of_table}", flush=True)
PY
done

"$python" - "$trace" <<'PY'
import sys, time
try:
    import otf2
except ImportError:
    sys.exit()
import pathlib
path = pathlib.Path(sys.argv[1])
anchor = path if path.is_file() else next(path.glob("*.otf2"))
begin, rows = time.monotonic(), 0
with otf2.reader.open(str(anchor)) as trace:
    for location, event in trace.events:
        rows += 1
took = time.monotonic() - begin
print(f"{'otf2, Python':<20} {rows} events {took:6.2f} s, {rows / took:.0f} a second")
PY
