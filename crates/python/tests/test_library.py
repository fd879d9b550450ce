"""The clock as a library, and that what is documented works."""

import array
import doctest
import importlib

import pytest

import retime


@pytest.mark.parametrize("module", ["retime", "retime._library", "retime._trace", "retime._report", "retime._tables"])
def test_examples(module):
    failed, tried = doctest.testmod(importlib.import_module(module))
    assert failed == 0
    assert tried > 0 or module not in ("retime", "retime._library")


def test_examples_of_the_reference():
    import pathlib

    page = pathlib.Path(__file__).resolve().parents[3] / "docs" / "PYTHON.md"
    failed, tried = doctest.testfile(str(page), module_relative=False, globs={"retime": retime})
    assert failed == 0 and tried > 0


def test_a_clock_inside_an_application():
    zero = retime.PiggybackClock(1_000_000, 5)
    one = retime.PiggybackClock(ticks_per_second=1_000_000, min_delay=5)
    message = zero.send(1_000)
    assert one.local(900) == 900
    assert one.receive(960, message) == 1_005
    assert one.local(1_060) == 1_100
    with pytest.raises(ValueError, match="ticks_per_second above 0"):
        retime.PiggybackClock(0)
    with pytest.raises(ValueError):
        retime.PiggybackClock(1_000, -1)
    with pytest.raises((TypeError, OverflowError)):
        one.local("soon")


def test_clocks_meet_in_operations_of_each_class():
    def clocks(**kind):
        return [retime.PiggybackClock(1_000_000, 5, **kind) for _ in range(3)]

    # All have entered before any leaves; nobody waits for itself.
    zero, one, two = clocks()
    stamps = [clock.enter(at, "all-to-all") for clock, at in ((zero, 1_200), (one, 1_110), (two, 900))]
    assert stamps == [(1_200, 1_200), (1_110, 1_110), (900, 900)]
    assert zero.leave(1_201, "all-to-all", stamps[1:]) == 1_201
    assert one.leave(1_160, "all-to-all", [stamps[0], stamps[2]]) == 1_205
    assert two.leave(950, "all-to-all", stamps[:2]) == 1_205

    # Only the root is waited for; nobody waits for the others, who give nothing.
    zero, one, two = clocks(kind="simple")
    assert (one.enter(700, "from-root"), two.enter(90, "from-root")) == (None, None)
    stamp = zero.enter(1_000, "from-root", root=True)
    assert zero.leave(1_001, "from-root", root=True) == 1_001
    assert one.leave(800, "from-root", [stamp]) == 1_005
    assert one.local(900) == 1_005
    assert two.leave(2_000, "from-root", [stamp]) == 2_000

    # Only the root waits.
    zero, one, two = clocks()
    stamps = [zero.enter(10, "to-root", root=True), one.enter(700, "to-root"), two.enter(90, "to-root")]
    assert stamps[0] is None
    assert zero.leave(20, "to-root", stamps, root=True) == 705
    assert one.leave(701, "to-root") == 701

    # Lower ranks are waited for, and in no order nobody.
    zero, one, two = clocks()
    stamps = [zero.enter(500, "scan"), one.enter(100, "scan"), two.enter(10, "scan")]
    assert zero.leave(501, "scan", stamps[:0]) == 501
    assert one.leave(110, "scan", stamps[:1]) == 505
    assert two.leave(20, "scan", stamps[:2]) == 505
    assert zero.enter(600, "none") is None
    assert zero.leave(610, "none", [(9_000, 9_000)]) == 610

    # Looking at the clock changes nothing.
    assert two.now(30) == two.now(30) == 514
    with pytest.raises(ValueError, match="no class \"barrier\".*all-to-all"):
        zero.enter(700, "barrier")
    with pytest.raises(ValueError, match="no kind \"lamport\""):
        retime.PiggybackClock(kind="lamport")
    with pytest.raises(TypeError):
        zero.leave(700, "all-to-all", [1])


def test_a_filter_takes_the_options_of_stream():
    with pytest.raises(retime.OptionError, match="colour"):
        retime.Filter([0, 1], colour="red")
    with pytest.raises(retime.OptionError, match="one pass"):
        retime.Filter([0, 1], controller="passes")
    with pytest.raises(ValueError, match="no clock 7"):
        retime.Filter([0, 7])
    stream = retime.Filter([0, 1, 2])
    with pytest.raises(ValueError, match="no location 3"):
        stream.push(3, 100)
    stream.close(1)
    with pytest.raises(ValueError):
        stream.push(1, 100)


def test_a_barrier_in_a_filter():
    stream = retime.Filter([0, 1], ticks_per_second=1_000_000)
    stream.begin(0, 90_000, "barrier", 2, payload="late")
    stream.begin(1, 50_000, "barrier", 2)
    stream.end(0, 90_010, "barrier", 2)
    stream.end(1, 50_020, "barrier", 2, payload="end")
    stream.finish()
    left = {event.payload: event for event in stream if event.payload}
    assert left["end"].time >= left["late"].time == 90_000
    assert left["end"].recorded == 50_020


def test_a_filter_takes_times_before_their_origin():
    def corrected(by):
        stream = retime.Filter([0, 1], ticks_per_second=1_000_000, min_delay="2us")
        stream.push(1, 40_000 + by, payload="work")
        stream.receive(1, 90_000 + by, message=1, payload="receive")
        stream.send(0, 90_998 + by, message=1, payload="send")
        stream.heartbeat(0, 91_500 + by)
        stream.finish()
        return [(event.payload, event.recorded - by, event.time - by) for event in stream]

    usual = [("work", 40_000, 41_000), ("send", 90_998, 90_998), ("receive", 90_000, 91_000)]
    for by in (0, -40_000, -90_500, -(1 << 62), (1 << 64) - 100_000):
        assert corrected(by) == usual


def test_numbers_that_cannot_be_are_errors_of_retime():
    stream = retime.Filter([0, 1])
    stream.push(0, -5)
    for wrong in (
        lambda: stream.push(-1, 5),
        lambda: stream.push(0, 1 << 200),
        lambda: stream.push(1, 1 << 62),
        lambda: stream.begin(0, 5, "barrier", -2),
        lambda: stream.heartbeat(1 << 40, 5),
        lambda: stream.close(-1),
        lambda: retime.Filter([0, -1]),
        lambda: retime.align(edges(), ticks_per_second=-1),
        lambda: retime.align(edges(), reference=-1),
        lambda: retime.align(edges()).knots(-1),
        lambda: retime.align(edges()).corrected(-1, [5]),
    ):
        with pytest.raises(retime.Error):
            wrong()
    with pytest.raises(retime.Error, match="time 4611686018427387904 is more than 2\\^61 ticks away .* -5"):
        stream.push(1, 1 << 62)
    aligned = retime.align([(0, -5, 1, 3), (1, 4, 0, -2)])
    assert aligned.relations == ["both ways", "both ways"]
    for wrong in (array.array("Q", [1 << 63]), [1 << 63]):
        with pytest.raises(TypeError, match="64 bits"):
            aligned.corrected(0, wrong)
    numpy = pytest.importorskip("numpy")
    with pytest.raises(TypeError, match="64 bits"):
        retime.align(numpy.array([[0, 2**64 - 5, 1, 3]], dtype="uint64"))


def edges():
    there = [(0, 1000 * i, 1, 1000 * i - 4700 + i % 7) for i in range(2000)]
    back = [(1, 1000 * i - 4500, 0, 1000 * i + 800 + i % 5) for i in range(2000)]
    return there + back


def test_steps_name_the_clocks_that_may_have_been_set_instead():
    # Two clocks, of which one gains a tenth of a second in the middle: nobody can tell which.
    rows = []
    for i in range(2000):
        at, gained = 1000 * i + 10_000_000_000, (100_000_000 if i > 1000 else 0)
        rows.append((0, at, 1, at + 300 + gained))
        rows.append((1, at + 400 + gained, 0, at + 700))
    steps = retime.align(rows).steps
    assert len(steps) == 1
    clock, after, until, by, alternatives = steps[0]
    assert abs(abs(by) - 100_000_000) < 1000 and until > after
    assert clock == steps[0].clock and isinstance(alternatives, list) and clock not in alternatives


def test_alignment_of_rows_columns_and_arrays():
    rows = edges()
    aligned = retime.align(rows)
    assert aligned.relations == ["both ways", "both ways"]
    assert abs(aligned.shortest - 300) < 5
    assert aligned.steps == [] and aligned.outliers == 0
    columns = tuple(zip(*rows))
    assert retime.align(columns).knots(1) == aligned.knots(1)
    named = dict(zip("abcd", (array.array("q", column) for column in columns)))
    assert retime.align(named).knots(1) == aligned.knots(1)
    corrected = aligned.corrected(1, [95_000, 195_000])
    assert isinstance(corrected, array.array) and abs(corrected[0] - 100_000) < 10
    numpy = pytest.importorskip("numpy")
    assert retime.align(numpy.array(rows)).knots(1) == aligned.knots(1)
    found = aligned.corrected(1, numpy.array([95_000, 195_000]))
    assert isinstance(found, numpy.ndarray) and found.tolist() == corrected.tolist()
    small = aligned.corrected(1, numpy.array([95_000], dtype="int32"))
    assert small.tolist() == corrected.tolist()[:1]


def test_alignment_refuses():
    for wrong in [[(0, 1, 1)], [(0, 1, 1, 2.5)], [(0, 1, 1, "x")]]:
        with pytest.raises(TypeError):
            retime.align(wrong)
    with pytest.raises(ValueError, match="numbered from 0"):
        retime.align([(-1, 1, 1, 2)])
    with pytest.raises(ValueError, match="in a row"):
        retime.align([(0, 1, 1 << 30, 2)])
    with pytest.raises(ValueError, match="differ in length"):
        retime.align(([0], [1], [1], []))
    with pytest.raises(ValueError, match="2\\^61"):
        retime.align([(0, 1 << 62, 1, 0)])
    with pytest.raises(ValueError, match="no clock 5"):
        retime.align(edges(), reference=5)
    with pytest.raises(ValueError, match="ticks_per_second"):
        retime.align(edges(), ticks_per_second=0)


def test_stamps_of_a_clock_that_is_none_are_refused():
    aligned = retime.align(edges())
    for clock in (2, -1):
        with pytest.raises(retime.OptionError, match=f"no clock {clock}: there are 2"):
            aligned.knots(clock)
        with pytest.raises(retime.OptionError, match=f"no clock {clock}: there are 2"):
            aligned.corrected(clock, [1])
    with pytest.raises(TypeError):
        aligned.knots(1.0)


def test_arrays_of_any_order_and_shape():
    numpy = pytest.importorskip("numpy")
    aligned = retime.align(edges())
    rows = numpy.array([[95_000, 195_000], [295_000, 395_000]])
    expected = aligned.corrected(1, rows.ravel()).tolist()
    found = aligned.corrected(1, rows)
    assert found.shape == rows.shape and found.ravel().tolist() == expected
    foreign = aligned.corrected(1, rows.ravel().astype(rows.dtype.newbyteorder()))
    assert foreign.tolist() == expected
    with pytest.raises(TypeError, match="whole numbers"):
        aligned.corrected(1, rows.ravel().astype("datetime64[ns]"))


def test_messages_of_a_filter_have_numbers_or_names():
    stream = retime.Filter([0, 1], ticks_per_second=1_000)
    stream.send(0, 1, message="first")
    stream.send(0, 2, message=2**64 - 1)
    for wrong in (-1, 2**64, 1.5, None):
        with pytest.raises(TypeError, match="whole number from 0 to 2.64 - 1, or a text"):
            stream.send(0, 3, message=wrong)


def test_unrelated_clocks():
    aligned = retime.align(edges() + [(2, 10, 3, 20)])
    assert aligned.relations[2:] == ["unrelated", "unrelated"]


def test_stubs_have_all_options_and_names():
    import ast
    import pathlib
    import runpy

    package = pathlib.Path(__file__).parent.parent
    stubs = package / "python" / "retime" / "__init__.pyi"
    assert runpy.run_path(str(package / "stubs.py"))["stubs"]() == stubs.read_text()
    names = {it.name for it in ast.parse(stubs.read_text()).body if hasattr(it, "name")}
    assert set(retime.__all__) <= names | {"__version__"}
    installed = pathlib.Path(retime.__file__).parent
    assert (installed / "__init__.pyi").is_file() and (installed / "py.typed").is_file()
    for name in retime.__all__:
        it = getattr(retime, name)
        assert name == "__version__" or it.__doc__, name
        for inside in vars(it) if isinstance(it, type) else ():
            if not inside.startswith("_") and callable(getattr(it, inside)):
                assert getattr(it, inside).__doc__, f"{name}.{inside}"
