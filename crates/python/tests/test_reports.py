"""Reports, refusals and exit codes are those of the command, field by field."""

import json
import pickle
import subprocess

import pytest

import retime

# What tells when and where it ran, not what it found.
RUNNING = {"timing", "seconds", "memory_bytes", "threads"}


def comparable(report):
    if isinstance(report, dict):
        return {name: comparable(it) for name, it in report.items() if name not in RUNNING}
    if isinstance(report, list):
        return [comparable(it) for it in report]
    return report


def told(command, words, path):
    """Exit code, report and message of the command."""
    json_file = path / "report.json"
    json_file.unlink(missing_ok=True)
    line = [command, *words, "--json", str(json_file)]
    done = subprocess.run(line, capture_output=True, text=True)
    report = json.loads(json_file.read_text()) if json_file.exists() else None
    return done.returncode, report, done.stderr


def as_words(options):
    words = []
    for key, value in options.items():
        name = "--" + key.rstrip("_").replace("_", "-")
        if value is True:
            words.append(name)
        elif value is not None and value is not False:
            words.append(f"{name}={value}")
    return words


def compare(command, path, trace, name, options, out=None):
    """Does the same by the command and by the package; whether that is done."""
    output = [] if out is None else ["-o", str(out)]
    code, report, message = told(command, [name, str(trace), *output, *as_words(options)], path)
    own = None if out is None else out.with_name(out.name + "-python")
    positional = () if own is None else (own,)
    try:
        done = getattr(retime.open(trace), name)(*positional, **options)
    except retime.Error as error:
        assert error.exit_code == code, (error, message)
        # Beyond the first paragraph stands how the command is called.
        said = str(error).split("\n")[0].replace("-python", "")
        assert said in message, (said, message)
        return False
    assert done.exit_code == code, message
    assert comparable(done.to_dict()) == comparable(report)
    if name == "check" and not options:
        assert comparable(retime.open(trace).report.to_dict()) == comparable(report)
    if own is not None:
        again = retime.open(trace).corrected(**options).report.to_dict()
        assert comparable(again) == comparable(report)
        compare_files(out, own)
    return True


def compare_files(one, other):
    for file in sorted(one.rglob("*")) if one.is_dir() else [one]:
        twin = other / file.relative_to(one) if one.is_dir() else other
        if file.is_file():
            assert file.read_bytes() == twin.read_bytes(), file


def test_check_of_a_simulated_trace(command, tmp_path, simulated):
    compare(command, tmp_path, simulated.trace.path, "check", {"truth": simulated.truth.path})


def test_compare_of_a_simulated_trace(command, tmp_path, simulated):
    compare(command, tmp_path, simulated.trace.path, "compare", {"truth": simulated.truth.path})


def test_shared_traces(command, tmp_path, shared):
    anchors = sorted(shared.rglob("*.otf2"))
    assert len(anchors) > 20
    for number, anchor in enumerate(anchors):
        if compare(command, tmp_path, anchor, "check", {}):
            view = retime.open(anchor)
            assert view.report._repr_html_() and repr(view.report) and view._repr_html_()
        compare(command, tmp_path, anchor, "correct", {}, tmp_path / f"corrected-{number}")


# Some of each option's values, good and bad.
VALUES = {
    "method": ["auto", "clc", "simple", "lamport", "regression", "convex-hull", "spanning-tree", "min-max",
               "hofmann-hilgers", "extended", "pseudo-sync", "gentlest", "optimal", "interpolation", "best"],
    "min_delay": ["auto", "0us", "200ns", "1tick", "-1us", "5 parsec"],
    "clocks": ["auto", "location", "process", "node", "all"],
    "reference": ["first", "mean", "2", "MPI Rank 1", "nobody"],
    "repair": ["clc", "off"],
    "drift_bound": ["100ppm", "1e-6", "0.01%", "2"],
    "bounds": ["on", "off"],
    "max_rate_difference": ["1%", "1ppm"],
    "gamma_max": ["0.5", "0.99998", "1.5"],
    "amortization": ["0.5%", "off", "5%"],
    "controller": ["constant", "1997", "ab", "passes", "z"],
    "backward": [True, False],
    "always": [True, False],
    "intervals": ["4"],
    "pairs": ["convex-hull", "regression"],
    "from_": ["100us", "1s"],
    "to": ["1ms"],
    "strict": [True],
    "dense_alltoallv": [True],
    "trust_implementation": ["openmpi", "mpich"],
    "threads": [1, 2, 0],
    "force": [True],
}


def test_a_hundred_random_sets_of_options(command, tmp_path, trace, chance):
    worked = 0
    for number in range(100):
        names = chance.sample(sorted(VALUES), chance.randrange(1, 6))
        options = {name: chance.choice(VALUES[name]) for name in names}
        worked += compare(command, tmp_path, trace.path, "correct", options, tmp_path / f"random-{number}")
    # Of both there have to be some.
    assert 20 <= worked <= 80, worked


def test_nothing_is_written_without_a_place(tmp_path, trace):
    before = sorted(tmp_path.iterdir())
    assert trace.correct().after.reversed == 0
    assert sorted(tmp_path.iterdir()) == before


def test_json_and_html_are_written_too(tmp_path, trace):
    report = trace.check(json=tmp_path / "r.json", html=tmp_path / "r.html")
    assert comparable(json.loads((tmp_path / "r.json").read_text())) == comparable(report.to_dict())
    page = (tmp_path / "r.html").read_text()
    assert f"retime check --json={tmp_path / 'r.json'}" in page


def test_a_report_is_attributes_and_items(trace):
    report = trace.check()
    assert report.trace.events == report["trace"]["events"]
    assert set(report) >= {"schema", "trace", "before", "clocks"}
    assert "before" in dir(report)
    assert report.clocks.list[0].locations == [0]
    with pytest.raises(AttributeError, match="no 'colour' here"):
        report.colour
    copy = pickle.loads(pickle.dumps(report))
    assert copy.to_dict() == report.to_dict() and copy.outcome == report.outcome


def test_a_trace_stands_for_its_path(simulated):
    report = simulated.trace.check(truth=simulated.truth)
    assert report.accuracy.truth == simulated.truth.path


def test_times_and_numbers_as_python_has_them(trace):
    import datetime

    report = trace.check(min_delay=datetime.timedelta(microseconds=1), threads=1.0)
    assert report.parameters.min_delay.largest_ticks == 1000


def test_a_list_of_the_files_of_a_trace(trace):
    import pathlib

    files = [it for it in pathlib.Path(trace.path).rglob("*") if it.is_file()]
    assert retime.open(files).check().to_dict()["before"] == trace.check().to_dict()["before"]


def test_a_list_of_the_files_of_a_run(tmp_path):
    kernel = {"ph": "X", "cat": "kernel", "name": "ncclDevKernel_AllReduce", "pid": 0, "tid": 7}
    args = {"Collective name": "allreduce", "Seq": 1, "In msg nelems": 4, "dtype": "Float",
            "Process Group Name": "0", "Process Group Ranks": "[0, 1]"}
    for rank, begin in enumerate([1000.25, 1001040.25]):
        event = {**kernel, "ts": begin, "dur": 90.5, "args": args}
        run = {"distributedInfo": {"rank": rank, "world_size": 2}, "traceEvents": [event]}
        (tmp_path / f"rank{rank}.json").write_text(json.dumps(run))
    files = sorted(tmp_path.glob("*.json"))
    trace = retime.open(files)
    assert trace.check().before.reversed == 1 and len(trace.locations) == 2
    assert trace.corrected().report.after.reversed == 0
    done = trace.correct(tmp_path / "out")
    assert done.after.reversed == 0 and len(list((tmp_path / "out").glob("rank*.json"))) == 2
    assert retime.open(files[:1]).check().trace.processes == 1
    with pytest.raises(retime.OptionError, match="several files"):
        trace.compare(truth=trace)
    with pytest.raises(retime.MissingError):
        retime.open([*files, tmp_path / "rank2.json"])
    with pytest.raises(retime.OptionError):
        retime.open([])


def test_json_lines(tmp_path):
    file = tmp_path / "events.jsonl"
    file.write_text(
        '{"retime-stream": 1, "ticks_per_second": 1000000, "locations": [0, 1], "clocks": [0, 1]}\n'
        '{"location": 0, "time": 100, "type": "send", "message": 1, "region": "exchange"}\n'
        '{"location": 1, "time": 50, "type": "receive", "message": 1}\n'
    )
    trace = retime.open(file)
    assert trace.check().before.reversed == 1
    assert trace.format == "JSON lines"
    assert [it.id for it in trace.locations] == [0, 1]
