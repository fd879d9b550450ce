"""Plots, and the notebook that shows all of it."""

import ast
import json
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
    assert len(axes.get_yticks()) == 2 and axes.collections and axes.get_lines()
    if kind == "corrected":
        assert all(line.get_xdata()[0] <= line.get_xdata()[1] for line in axes.get_lines())
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
