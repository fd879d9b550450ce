"""The comparison of benches/scalasca.sh: runs both programs on one archive and prints a table.

    python3 benches/scalasca.py --retime RETIME --scalasca BIN --scratch DIR --runs N

DIR has the archives `recorded` and, if the truth is known, `truth`. Whether messages are
reversed is counted by Scalasca's analysis, for all archives alike, and so are wait states. Intervals
and errors are those of all events, by what `otf2-print` shows.
"""

import argparse
import os
import re
import shutil
import statistics
import subprocess
import sys
import time
from pathlib import Path

WAITS = {
    "mpi_latesender": "late sender",
    "mpi_latereceiver": "late receiver",
    "mpi_wait_nxn": "wait at N x N",
    "mpi_barrier_wait": "wait at barrier",
    "mpi_earlyreduce": "early reduce",
    "mpi_latebroadcast": "late broadcast",
}
MPI = dict(
    os.environ,
    OMPI_ALLOW_RUN_AS_ROOT="1",
    OMPI_ALLOW_RUN_AS_ROOT_CONFIRM="1",
    OMPI_MCA_rmaps_base_oversubscribe="1",
)


def anchor(directory):
    """The anchor file of an archive."""
    found = sorted(directory.glob("*.otf2"))
    if not found:
        sys.exit(f"benches/scalasca.py: {directory} holds no OTF2 archive")
    return found[0]


def run(command, cwd=None):
    """Output, wall seconds, and the peak of the largest process in MB."""
    begin = time.perf_counter()
    with subprocess.Popen(
        [str(it) for it in command],
        cwd=cwd,
        env=MPI,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    ) as child:
        output = child.stdout.read()
        _, status, used = os.wait4(child.pid, 0)
        child.returncode = os.waitstatus_to_exitcode(status)
    if child.returncode != 0:
        sys.exit(f"failed with {child.returncode}: {command}\n{output}")
    return output, time.perf_counter() - begin, used.ru_maxrss / 1024


def processes(archive):
    """How many MPI processes an archive has."""
    shown = run(["otf2-print", "-G", anchor(archive)])[0]
    groups = [line for line in shown.splitlines() if line.startswith("LOCATION_GROUP ")]
    return sum("PROCESS" in line for line in groups)


def analysed(scalasca, archive, ranks, *options):
    """What Scalasca's analysis says of an archive: the sums of waits, and what is reversed."""
    command = ["mpirun", "-n", ranks, scalasca / "scout.mpi", *options, anchor(archive)]
    output = run(command)[0]
    reversed_ = re.search(r"(\d+) clock condition violations", output)
    waits = {}
    for line in (archive / "trace.stat").read_text().splitlines():
        fields = line.split()
        if fields and fields[0] in WAITS:
            waits[WAITS[fields[0]]] = float(fields[6])
    return {"waits": waits, "reversed": int(reversed_[1]) if reversed_ else 0, "output": output}


def events(archive):
    """Names and times in seconds of the events of each location."""
    name = anchor(archive)
    definitions = run(["otf2-print", "-G", name])[0]
    rate = int(re.search(r"Ticks per Seconds: (\d+)", definitions)[1])
    locations = {}
    for line in run(["otf2-print", name])[0].splitlines():
        fields = line.split(None, 3)
        if len(fields) >= 3 and fields[1].isdigit() and fields[2].isdigit():
            names, times = locations.setdefault(int(fields[1]), ([], []))
            names.append(fields[0])
            times.append(int(fields[2]))
    # Times of a common origin, so that what is lost by floating point is nothing.
    first = min(times[0] for _, times in locations.values())
    return {
        location: (names, [(it - first) / rate for it in times])
        for location, (names, times) in locations.items()
    }


def pairs(one, other):
    """The times of the same events by two archives, for each location."""
    if one.keys() != other.keys():
        sys.exit("benches/scalasca.py: archives with different locations")
    for location, (names, times) in one.items():
        if names != other[location][0]:
            sys.exit(f"benches/scalasca.py: other events in location {location}")
        yield times, other[location][1]


def distortion(recorded, corrected):
    """Mean and largest relative change of intervals; the latter beyond a nanosecond."""
    total, count, largest = 0.0, 0, 0.0
    for before, after in pairs(recorded, corrected):
        for at in range(1, len(before)):
            long = before[at] - before[at - 1]
            if long <= 0:
                continue
            by = abs(after[at] - after[at - 1] - long)
            total += by / long
            count += 1
            if by > 1.5e-9:
                largest = max(largest, by / long)
    return total / max(count, 1), largest


def error(truth, corrected):
    """The mean error of times, without the straight line that all have in common."""
    both = [it for times in pairs(truth, corrected) for it in zip(*times)]
    count = len(both)
    middle = sum(it[0] for it in both) / count
    shift = sum(it[1] - it[0] for it in both) / count
    square = sum((true - middle) ** 2 for true, _ in both)
    slope = sum((true - middle) * (own - true) for true, own in both) / square
    left = (own - true - shift - slope * (true - middle) for true, own in both)
    return sum(map(abs, left)) / count


class Timed:
    """Wall seconds of a command, over several runs, and the largest peak of memory."""

    def __init__(self):
        self.walls, self.memory = [], 0.0

    def add(self, wall, memory):
        self.walls.append(wall)
        self.memory = max(memory, self.memory)

    def wall(self):
        return statistics.median(self.walls)


def corrected(arguments, ranks):
    """Corrects the recording by each program, by turns; the archives and what it took."""
    scratch, recorded = arguments.scratch, arguments.scratch / "recorded"
    outputs = {
        "Scalasca": scratch / "clc_sync",
        "retime clc": scratch / "clc",
        "retime auto": scratch / "auto",
    }
    commands = {
        "Scalasca": [
            *("mpirun", "-n", ranks, arguments.scalasca / "clc_synchronize.mpi"),
            anchor(recorded),
        ],
        "retime clc": [
            *(arguments.retime, "correct", recorded, "-o", outputs["retime clc"]),
            *("--method", "clc", "--quiet"),
        ],
        "retime auto": [
            *(arguments.retime, "correct", recorded, "-o", outputs["retime auto"], "--quiet"),
        ],
    }
    timed = {name: Timed() for name in commands}
    for _ in range(arguments.runs):
        for name, command in commands.items():
            shutil.rmtree(outputs[name], ignore_errors=True)
            _, wall, memory = run(command, cwd=scratch)
            timed[name].add(wall, memory)
    return outputs, timed


def table(arguments):
    """The rows of the comparison: a name and a cell for each column."""
    scratch = arguments.scratch
    recorded = scratch / "recorded"
    ranks = processes(recorded)
    outputs, timed = corrected(arguments, ranks)
    archives = {"recorded": recorded, **outputs}
    if (scratch / "truth").exists():
        archives["truth"] = scratch / "truth"
    said = {name: analysed(arguments.scalasca, it, ranks) for name, it in archives.items()}
    inside = analysed(arguments.scalasca, recorded, ranks, "--time-correct", "--verbose")
    phase = re.search(r"Backward amortization.*\ndone \(([\d.]+)s\)", inside["output"])
    said["Scalasca"]["waits"] = inside["waits"]
    shown = {name: events(it) for name, it in archives.items()}

    print(f"{sum(len(it[1]) for it in shown['recorded'].values())} events of {ranks} processes\n")
    rows = [["", *archives]]
    rows.append(["reversed", *(str(it["reversed"]) for it in said.values())])
    for wait in WAITS.values():
        sums = [it["waits"].get(wait, 0.0) for it in said.values()]
        if any(sums):
            rows.append([f"{wait}, ms", *(f"{1e3 * it:.2f}" for it in sums)])
    changes = {name: distortion(shown["recorded"], shown[name]) for name in outputs}
    for at, name in enumerate(["intervals changed, mean", "intervals changed, at most"]):
        cells = (f"{100 * changes[it][at]:.4g} %" if it in changes else "" for it in archives)
        rows.append([name, *cells])
    if "truth" in shown:
        errors = (1e6 * error(shown["truth"], shown[it]) for it in archives if it != "truth")
        rows.append(["mean error, us", *(f"{it:.2f}" for it in errors), ""])
    seconds = [f"{timed[it].wall():.2f}" if it in timed else "" for it in archives]
    rows.append(["read, correct, write, s", *seconds])
    memory = [f"{timed[it].memory:.0f}" if it in timed else "" for it in archives]
    rows.append(["largest process, MB", *memory])
    if phase:
        own = ["", phase[1]]
        rows.append(["correction alone, s", *own, *("" for _ in range(len(archives) - 2))])
    return rows


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--retime", type=Path, required=True)
    parser.add_argument("--scalasca", type=Path, required=True)
    parser.add_argument("--scratch", type=Path, required=True)
    parser.add_argument("--runs", type=int, default=5)
    rows = table(parser.parse_args())
    widths = [max(len(row[at]) for row in rows) for at in range(len(rows[0]))]
    for row in rows:
        cells = [row[0].ljust(widths[0]), *(cell.rjust(width) for cell, width in zip(row[1:], widths[1:]))]
        print("  ".join(cells).rstrip())


if __name__ == "__main__":
    main()
