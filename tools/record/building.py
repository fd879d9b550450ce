"""What recordings are made with: the recorder, the converter, and a machine that they can be made on."""

import platform
import shutil
import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
TOOLS = {"cc": "gcc", "mpicc": "libopenmpi-dev", "mpirun": "openmpi-bin", "zstd": "zstd"}


def obstacle():
    """Why nothing can be recorded here, if so."""
    if platform.machine() != "x86_64":
        return "recording needs the time stamp counter of x86-64"
    absent = [package for tool, package in TOOLS.items() if not shutil.which(tool)]
    if "gcc" not in absent:
        probe = subprocess.run(
            ["cc", "-E", "-x", "c", "-"], input="#include <otf2/otf2.h>\n",
            text=True, capture_output=True, check=False,
        )  # fmt: skip
        absent += ["libopen-trace-format2-dev"] if probe.returncode else []
    return f"to record, apt-get install {' '.join(absent)}" if absent else None


def build(into, programs):
    def compile_with(compiler, name, *rest):
        command = [compiler, "-O2", "-Wall", "-Wextra", "-o", into / name, *rest]
        subprocess.run(command, check=True)

    compile_with("cc", "convert", HERE / "convert.c", "-lopen-trace-format2", "-lm")
    compile_with("cc", "counters", HERE / "counters.c", "-pthread")
    compile_with("cc", "launch", HERE / "launch.c")
    for program in sorted(programs):
        compile_with("mpicc", program, HERE / "programs" / f"{program}.c", HERE / "recorder.c")


def check_counters(binaries):
    """Prints how far apart the counters of cores can be; refuses any that are."""
    done = subprocess.run([binaries / "counters"], check=True, capture_output=True, text=True)
    for line in done.stdout.splitlines():
        core, there, back = map(int, line.split())
        print(f"counters of cores 0 and {core}: {there} ticks there, {back} back at least")
        if min(there, back) <= 0:
            sys.exit("The cores do not share a counter: there is no truth on this machine.")


def convert(binaries, recording, out, *options):
    """The length in seconds, and how many stamps stood still."""
    shutil.rmtree(out, ignore_errors=True)
    command = [binaries / "convert", recording, out, *map(str, options)]
    done = subprocess.run(command, check=True, capture_output=True, text=True)
    seconds, _, stood_still, *_ = done.stdout.split()
    return float(seconds), int(stood_still)
