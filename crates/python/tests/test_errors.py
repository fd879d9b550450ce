"""Whatever goes wrong is an exception that says what to do."""

import os
import pickle
import shutil

import pytest

import retime


def test_kinds_of_errors():
    assert issubclass(retime.OptionError, (retime.Error, ValueError))
    assert issubclass(retime.MissingError, FileNotFoundError)
    assert issubclass(retime.MissingError, retime.TraceError)
    assert issubclass(retime.OutputError, OSError)
    assert issubclass(retime.Refused, retime.Uncorrectable)
    error = pickle.loads(pickle.dumps(retime.MissingError("gone", 2)))
    assert str(error) == "gone" and error.exit_code == 2


def test_nothing_is_there(tmp_path):
    with pytest.raises(retime.MissingError, match="No such file"):
        retime.open(tmp_path / "nothing")


def test_it_is_something_else(tmp_path):
    file = tmp_path / "text.otf2"
    file.write_text("not a trace\n" * 100)
    with pytest.raises(retime.TraceError):
        retime.open(file)


@pytest.mark.parametrize("wrong", [3, None, object(), 2.5, ["a", 3]])
def test_what_is_no_path(wrong):
    with pytest.raises(TypeError, match="path"):
        retime.open(wrong)


@pytest.mark.parametrize("path", ["\ud800", "a\0b", "", "日本語/🕰", "\udcff", "-x", "--help"])
def test_odd_paths(path):
    with pytest.raises((retime.TraceError, UnicodeEncodeError, ValueError)):
        retime.open(path)


def test_odd_names_of_good_traces(tmp_path, trace):
    for name in ["日本語 🕰", "--help", "-o", "a'b\"c", os.fsdecode(b"\xff\xfe")]:
        place = tmp_path / name
        shutil.copytree(trace.path, place)
        os.chdir(tmp_path)
        assert retime.open(name).check(bounds=False).before.reversed > 0
        done = retime.open(place).correct(tmp_path / (name + "-corrected"))
        assert done.after.reversed == 0


def test_options_that_are_refused(trace, tmp_path):
    with pytest.raises(retime.OptionError, match="unexpected argument '--colour'"):
        trace.check(colour="red")
    with pytest.raises(retime.OptionError, match="unknown unit"):
        trace.check(min_delay="2parsec")
    with pytest.raises(retime.OptionError, match="--gamma-max has no part in --method auto"):
        trace.correct(tmp_path / "x", gamma_max=0.5)
    with pytest.raises(retime.OptionError, match="use the command retime"):
        trace.check(max_memory="1GiB")
    with pytest.raises(retime.OptionError, match="takes a file here"):
        trace.check(json="-")
    with pytest.raises(retime.OptionError, match="nothing is written here"):
        trace.corrected(merged=True)
    with pytest.raises(TypeError, match="strict is a switch"):
        trace.check(strict="yes")
    with pytest.raises(TypeError, match="threads: give it as you would type it"):
        trace.check(threads=object())


def test_outputs_that_are_refused(trace, tmp_path):
    (tmp_path / "there").mkdir()
    with pytest.raises(retime.OutputError, match="exists already"):
        trace.correct(tmp_path / "there")
    with pytest.raises(retime.OutputError, match="holds the input"):
        trace.correct(trace.path)
    (tmp_path / "report").write_text("mine")
    with pytest.raises(retime.OutputError, match="is no report"):
        trace.check(json=tmp_path / "report")
    with pytest.raises(retime.OutputError, match="no such directory"):
        trace.correct(tmp_path / "no" / "where")
    # Nothing can be made there, of which the system says that it is not there.
    with pytest.raises(retime.OutputError, match="/proc/") as refused:
        trace.correct("/proc/x")
    assert not isinstance(refused.value, retime.MissingError)
    with pytest.raises(retime.TraceError, match="no correction is saved"):
        retime.undo(trace, tmp_path / "undone")


def test_what_cannot_be_corrected(trace, tmp_path):
    with pytest.raises(retime.Uncorrectable, match="offsets") as failed:
        trace.correct(tmp_path / "x", method="interpolation")
    assert failed.value.exit_code == 1
    with pytest.raises(retime.Refused, match="cannot be right"):
        trace.correct(tmp_path / "x", max_rate_difference="0.1ppm")
    assert not list(tmp_path.iterdir())


def test_a_closed_trace(trace, tmp_path):
    with retime.open(trace.path) as closed:
        table = closed.events()
        corrected = closed.corrected(bounds=False)
    assert closed.closed and "closed" in repr(closed)
    for work in [closed.check, closed.events, closed.messages, closed.compare, closed.corrected,
                 lambda: closed.correct(tmp_path / "x"), lambda: closed.locations, lambda: closed.format]:
        with pytest.raises(retime.ClosedError, match=r"open it again"):
            work()
    # What was made of it stays.
    assert table.column_names and corrected.report.after.reversed == 0


def test_vanished_files(trace, tmp_path):
    place = tmp_path / "copy"
    shutil.copytree(trace.path, place)
    opened = retime.open(place)
    shutil.rmtree(place)
    with pytest.raises(retime.MissingError):
        opened.check()
    pytest.importorskip("pyarrow")
    with pytest.raises(retime.TraceError):
        opened.events().to_pyarrow()
    with pytest.raises(retime.TraceError):
        opened.events().to_pandas()


def test_a_damaged_file(trace, tmp_path):
    pytest.importorskip("pyarrow")
    place = tmp_path / "copy"
    shutil.copytree(trace.path, place)
    file = max(place.rglob("*.evt"), key=lambda it: it.stat().st_size)
    file.write_bytes(file.read_bytes()[: file.stat().st_size // 2])
    damaged = retime.open(place)
    with pytest.raises(retime.TraceError, match=file.name):
        damaged.check()
    with pytest.raises(retime.TraceError):
        damaged.events().to_pyarrow()


def test_tables_refuse(trace):
    for wrong in [{"columns": ["colour"]}, {"columns": ["corrected"]}, {"locations": [77]},
                  {"locations": ["nobody"]}, {"from_": "2"}, {"from_": "2s", "to": "1s"}]:
        with pytest.raises(retime.OptionError):
            trace.events(**wrong)
    with pytest.raises(TypeError):
        trace.events(columns="time")
    with pytest.raises(TypeError, match="tables of events"):
        trace.messages().to_pipit()
