"""Plots, and the notebook that shows all of it."""

import ast
import json
import math
import pathlib

import pytest

import retime

matplotlib = pytest.importorskip("matplotlib")
matplotlib.use("agg")
NOTEBOOK = pathlib.Path(__file__).parent.parent / "examples" / "first-look.ipynb"


@pytest.fixture(params=["recorded", "corrected"])
def view(request, trace):
    return trace if request.param == "recorded" else trace.corrected()


def test_latencies(view):
    axes = view.plot_latencies()
    lines = {line.get_label(): line for line in axes.get_lines()}
    assert set(lines) == {"recorded"} | ({"corrected"} if isinstance(view, retime.Corrected) else set())
    assert min(lines["recorded"].get_xdata()) < 0
    if "corrected" in lines:
        counted = lines["corrected"]
        assert all(count == 0 for time, count in zip(counted.get_xdata(), counted.get_ydata()) if time < 0)
    axes.figure.canvas.draw()


def test_clocks(view):
    axes = view.plot_clocks()
    assert len(axes.get_lines()) == view.report.clocks.count
    assert len(axes.collections) == view.report.clocks.count
    axes.figure.canvas.draw()


def test_space_and_time(view):
    pytest.importorskip("pyarrow")
    kind = "corrected" if isinstance(view, retime.Corrected) else "time"
    first = min(view.events(["time"]).to_pyarrow()["time"].to_pylist())
    message = view.messages().to_pyarrow().to_pylist()[100]
    ends = sorted(message[f"{it}_{kind}"] - first for it in ("send", "receive"))
    both = [message["send_location"], message["receive_location"]]
    axes = view.plot_spacetime(f"{ends[0] - 1000}ns", f"{ends[1] + 1000}ns", both)
    assert len(axes.get_yticks()) == 2 and axes.get_title() == ""
    _, lines = axes.collections
    drawn = [segment for segment in lines.get_segments() if abs(segment[0][0] - (message[f"send_{kind}"] - first) / 1e9) < 1e-12]
    assert len(drawn) == 1 and abs(drawn[0][1][0] - (message[f"receive_{kind}"] - first) / 1e9) < 1e-12
    if kind == "corrected":
        assert all(sent[0] <= received[0] for sent, received in lines.get_segments())
    axes.figure.canvas.draw()


def calls_of(view, kind, from_=None, to=None):
    """Boxes by a stack for each location, as (row, begin, end, depth), in ticks."""
    table = view.events(["location", kind, "region", "passage"], None, from_, to).to_pyarrow()
    base = min(view.events(["time"]).to_pyarrow()["time"].to_pylist())
    stacks, last, found = {}, {}, []
    for location, stamp, _, passage in zip(*(table[it].to_pylist() for it in table.column_names)):
        stack = stacks.setdefault(location, [])
        if passage is not None:
            last[location] = stamp
        if passage == "enter":
            stack.append(stamp)
        elif passage == "leave" and stack:
            begin = stack.pop()
            found.append((location, begin - base, stamp - base, len(stack)))
    for location, stack in stacks.items():
        found += [(location, begin - base, last[location] - base, depth) for depth, begin in enumerate(stack)]
    return sorted(found)


def boxes(axes):
    found = []
    for path in axes.collections[0].get_paths():
        (left, low), (right, high) = path.vertices.min(axis=0), path.vertices.max(axis=0)
        depth = round(math.log((high - low) / 0.8, 0.8))
        found.append((round((low + high) / 2), round(left * 1e9), round(right * 1e9), depth))
    return sorted(found)


def test_each_call_is_a_box(view):
    pytest.importorskip("pyarrow")
    kind = "corrected" if isinstance(view, retime.Corrected) else "time"
    axes = view.plot_spacetime()
    assert boxes(axes) == calls_of(view, kind)
    messages = view.messages().to_pyarrow().to_pylist()
    lines = [(int(sent[1]), round(sent[0] * 1e9), int(received[1]), round(received[0] * 1e9))
             for sent, received in axes.collections[1].get_segments()]
    base = min(view.events(["time"]).to_pyarrow()["time"].to_pylist())
    assert sorted(lines) == sorted(
        (it["send_location"], it[f"send_{kind}"] - base, it["receive_location"], it[f"receive_{kind}"] - base)
        for it in messages
    )
    colours = [tuple(it) for it in axes.collections[1].get_colors()]
    reversed_ones = sum(it[f"receive_{kind}"] < it[f"send_{kind}"] for it in messages)
    assert len(colours) - colours.count((0, 0, 0, 1)) == reversed_ones
    assert (reversed_ones > 0) == (kind == "time")


def test_what_was_entered_before_a_stretch_is_drawn_from_its_beginning(tmp_path):
    pytest.importorskip("pyarrow")
    lines = ['{"retime-stream": 1, "ticks_per_second": 1000000000, "locations": [7]}']
    steps = [(0, "Enter", "main"), (10, "Enter", "solve"), (40, "Leave", "solve"), (50, "Enter", "io"), (90, "Leave", "io"),
             (99, "Leave", "main")]
    lines += [f'{{"location": 7, "time": {at}, "kind": "{kind}", "region": "{name}"}}' for at, kind, name in steps]
    (tmp_path / "t.jsonl").write_text("\n".join(lines) + "\n")
    trace = retime.open(tmp_path / "t.jsonl")
    assert boxes(trace.plot_spacetime()) == [(0, 0, 99, 0), (0, 10, 40, 1), (0, 50, 90, 1)]
    # That main goes on has no event in it.
    assert boxes(trace.plot_spacetime("20ns", "60ns")) == [(0, 20, 40, 0), (0, 50, 60, 0)]
    assert boxes(trace.plot_spacetime("20ns")) == [(0, 20, 40, 1), (0, 20, 99, 0), (0, 50, 90, 1)]
    assert boxes(trace.plot_spacetime("41ns", "42ns")) == []


def test_no_more_is_drawn_than_is_said(trace):
    pytest.importorskip("pyarrow")
    whole = trace.plot_spacetime()
    with pytest.warns(UserWarning, match="the longest 100 of [0-9,]+ calls; 100 of"):
        small = trace.plot_spacetime(most=100)
    calls, lines = small.collections
    assert len(calls.get_paths()) == len(lines.get_segments()) == 100
    assert "the longest 100 of" in small.get_title() and "reversed ones" in small.get_title()
    lengths = sorted(end - begin for _, begin, end, _ in boxes(whole))
    assert sorted(end - begin for _, begin, end, _ in boxes(small)) == lengths[-100:]
    # The reversed ones come first.
    assert all(received[0] < sent[0] for sent, received in lines.get_segments())


def test_a_trace_of_millions_of_events_is_drawn(large):
    pytest.importorskip("pyarrow")
    with pytest.warns(UserWarning, match="the longest 200,000 of"):
        axes = large.plot_spacetime()
    # A collection, since an artist for each call and message takes minutes for a tenth of that.
    assert len(axes.collections) == 2 and not axes.get_lines() and not axes.patches
    axes.figure.canvas.draw()


def test_axes_of_ones_own(trace):
    from matplotlib import pyplot

    own = pyplot.subplots()[1]
    assert trace.plot_latencies(own) is own and trace.plot_clocks(ax=own) is own


def test_the_notebook(monkeypatch, tmp_path):
    for needed in ("pandas", "pyarrow"):
        pytest.importorskip(needed)
    monkeypatch.chdir(tmp_path)
    names, shown = {}, []
    for cell in json.loads(NOTEBOOK.read_text())["cells"]:
        if cell["cell_type"] == "code":
            assert cell["outputs"] == [], "the notebook is kept without what it shows"
            shown.append(run("".join(cell["source"]), names))
    pages = [it._repr_html_() for it in shown if hasattr(it, "_repr_html_")]
    assert len(pages) >= 5 and any("<svg" in it for it in pages)


def run(source, names):
    """Runs a cell as a notebook does; what its last expression gives."""
    cell = ast.parse(source)
    last = None
    if isinstance(cell.body[-1], ast.Expr):
        last = ast.Expression(cell.body.pop().value)
    exec(compile(cell, "cell", "exec"), names)
    return None if last is None else eval(compile(last, "cell", "eval"), names)
