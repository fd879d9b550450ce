"""Run with nothing installed but the package, then after each optional one by its name."""

import importlib.util
import os
import subprocess
import sys
import tempfile

import retime

# What takes which package.
NEEDED = {
    "pyarrow": lambda trace: trace.events().to_pyarrow(),
    "pandas": lambda trace: trace.events().to_pandas(),
    "polars": lambda trace: trace.events().to_polars(),
    "matplotlib": lambda trace: trace.plot_latencies(),
    "tqdm": lambda trace: retime.open(trace.path, progress=True).check(),
}


def is_there(name):
    return importlib.util.find_spec(name) is not None


def bare(directory):
    """What works in any case."""
    trace, truth, _ = retime.simulate("halo", os.path.join(directory, "halo"), events=3000, offset="1ms")
    report = trace.check()
    assert report.before.reversed > 0 and report.exit_code == 1
    assert "reversed as recorded" in repr(report) and "<table>" in report._repr_html_()
    done = trace.correct(os.path.join(directory, "corrected"), truth=truth)
    assert done.after.reversed == 0 and done.exit_code == 0
    assert "<svg" in trace.corrected()._repr_html_()
    assert trace.compare(method="auto").methods[1].name == "auto"
    back = retime.undo(done.output, os.path.join(directory, "back"))
    again = back.check(bounds=False)
    assert again.before.reversed == report.before.reversed
    assert trace.events().column_names[:2] == ["location", "time"]
    command = os.path.join(os.path.dirname(sys.executable), "retime")
    checked = subprocess.run([command, "check", trace.path, "--quiet"])
    assert checked.returncode == 1, checked
    return trace


def main(names):
    with tempfile.TemporaryDirectory() as directory:
        os.environ.setdefault("MPLBACKEND", "agg")
        trace = bare(directory)
        for name, take in NEEDED.items():
            # pandas and numpy come with others, so only what is missing is certain.
            if is_there(name) and (name != "pandas" or is_there("pyarrow")):
                take(trace)
            elif not is_there(name):
                try:
                    take(trace)
                except ImportError as error:
                    assert f"pip install {name}" in str(error), error
                else:
                    raise AssertionError(f"{name} is not there, and nothing said so")
        for name in names:
            assert is_there(name), name


main(sys.argv[1:])
