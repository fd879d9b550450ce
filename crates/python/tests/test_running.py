"""Threads, interrupts, leaks, and how long work is shown."""

import gc
import json
import os
import pathlib
import shutil
import signal
import subprocess
import sys
import textwrap
import threading
import time

import pytest

import retime


def test_eight_threads_correct_eight_traces(trace, tmp_path):
    expected = trace.correct(tmp_path / "expected").after.to_dict()
    traces = [shutil.copytree(trace.path, tmp_path / f"trace-{it}") for it in range(8)]
    found = {}

    def correct(number):
        report = retime.open(traces[number]).correct(tmp_path / f"corrected-{number}")
        found[number] = report.after.to_dict()

    threads = [threading.Thread(target=correct, args=[it]) for it in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found == {number: expected for number in range(8)}
    one = sorted((tmp_path / "expected").rglob("*.evt"))
    for number in range(8):
        for file in one:
            twin = tmp_path / f"corrected-{number}" / file.relative_to(tmp_path / "expected")
            assert file.read_bytes() == twin.read_bytes()


def test_others_go_on_while_work_is_done(large):
    steps, done = 0, threading.Event()

    def work():
        large.check(threads=1)
        done.set()

    thread = threading.Thread(target=work)
    thread.start()
    while not done.wait(0.001):
        steps += 1
    thread.join()
    assert steps > 20


INTERRUPTED = """
import os, signal, sys, threading, time
import retime
# Whoever runs the tests in the background may have left it ignored.
signal.signal(signal.SIGINT, signal.default_int_handler)
trace = retime.open({path!r})
out = {out!r}
after = {after}

def interrupt():
    time.sleep(after)
    global sent
    sent = time.monotonic()
    os.kill(os.getpid(), signal.SIGINT)

threading.Thread(target=interrupt).start()
try:
    {work}
except KeyboardInterrupt:
    took = time.monotonic() - sent
    print("interrupted", took)
else:
    print("done")
"""


@pytest.mark.parametrize(
    "work",
    [
        "[trace.check() for _ in range(100)]",
        "trace.correct(out)",
        "trace.corrected()",
        "trace.compare()",
        "retime.simulate('halo', out, events=1e8)",
        "[trace.events().to_pyarrow() for _ in range(100)]",
        "[trace.events().to_pandas() for _ in range(100)]",
        "[trace.events().to_polars() for _ in range(100)]",
        "trace.events().to_parquet(out)",
    ],
)
@pytest.mark.parametrize("after", [0.05, 0.2])
def test_an_interrupt_is_heard(large, tmp_path, work, after):
    for module in ("pandas", "polars", "pyarrow"):
        if f"to_{module}" in work:
            pytest.importorskip(module)
    text = INTERRUPTED.format(path=large.path, out=str(tmp_path / "out"), work=work, after=after)
    if "to_" in work:
        # Importing these takes longer than the work goes on.
        text = "import pyarrow, pandas, polars\n" + text
    took = []
    # A machine with other work to do may take longer now and then.
    while min(took, default=1) >= 0.5 and len(took) < 3:
        line = [sys.executable, "-c", textwrap.dedent(text)]
        done = subprocess.run(line, capture_output=True, text=True, timeout=60)
        words = done.stdout.split()
        assert words and words[0] == "interrupted", (done.stdout, done.stderr)
        took.append(float(words[1]))
        # Nothing is left behind.
        assert not list(tmp_path.iterdir())
    assert min(took) < 0.5, took


# A table that takes longer than any interrupt waits, between groups of rows.
SLOW = """
import pyarrow.parquet, time

def slow(table):
    groups = table._groups
    def all():
        for _ in range(100):
            yield from groups()
            time.sleep(0.1)
    table._groups = all
    return table
"""


@pytest.mark.parametrize("after", [0.3, 0.6, 0.9, 1.2])
def test_a_file_that_was_there_stays_after_an_interrupt(large, tmp_path, after):
    pytest.importorskip("pyarrow.parquet")
    file = tmp_path / "events.parquet"
    file.write_bytes(b"what was there")
    work = "slow(trace.events()).to_parquet(out)"
    text = INTERRUPTED.format(path=large.path, out=str(file), work=work, after=after)
    line = [sys.executable, "-c", SLOW + textwrap.dedent(text)]
    done = subprocess.run(line, capture_output=True, text=True, timeout=120)
    assert done.stdout.startswith("interrupted"), (done.stdout, done.stderr)
    assert [it.read_bytes() for it in tmp_path.iterdir()] == [b"what was there"]


def test_a_page_is_made_once(trace, monkeypatch):
    opened = retime.open(trace.path)
    page = opened._repr_html_()
    corrected = opened.corrected()
    own = corrected._repr_html_()
    asked = []
    monkeypatch.setattr(type(opened), "check", lambda *_, **__: asked.append("check"))
    monkeypatch.setattr(type(corrected), "picture", lambda *_: asked.append("picture"))
    assert opened._repr_html_() == page and corrected._repr_html_() == own and not asked
    opened.close()
    assert "closed" in opened._repr_html_()


@pytest.mark.parametrize("wrong", [0, 3, "bar", []])
def test_progress_is_a_function_or_a_switch(trace, wrong):
    with pytest.raises(TypeError, match="progress: give a function, True, False or None"):
        retime.open(trace.path, progress=wrong)
    with pytest.raises(TypeError, match="progress: give a function, True, False or None"):
        trace.explain(0, 0, progress=wrong)


def test_progress_is_told_and_can_stop_the_work(large):
    heard = []
    retime.open(large.path, progress=lambda *it: heard.append(it)).check(threads=1)
    assert heard and all(len(it) == 3 for it in heard)
    assert {it[0] for it in heard} >= {"reading"}

    def enough(*_):
        raise RuntimeError("enough")

    with pytest.raises(RuntimeError, match="enough"):
        retime.open(large.path, progress=enough).check(threads=1)


def resident():
    """Bytes that this process has in memory."""
    pages = int(pathlib.Path("/proc/self/statm").read_text().split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE")


def files():
    return len(os.listdir("/proc/self/fd"))


def threads():
    return len(os.listdir("/proc/self/task"))


@pytest.mark.skipif(not os.path.isdir("/proc/self"), reason="there is no /proc to look at")
def test_a_thousand_opens_and_closes_leave_nothing(trace):
    pyarrow = pytest.importorskip("pyarrow")

    def once():
        with retime.open(trace.path) as opened:
            opened.locations
            # A table that is begun and not read to its end.
            reader = pyarrow.RecordBatchReader.from_stream(opened.events(["time"]))
            reader.read_next_batch()
            reader.close()

    for _ in range(50):
        once()
    gc.collect()
    time.sleep(0.2)
    before = resident(), files(), threads()
    for _ in range(1000):
        once()
    gc.collect()
    time.sleep(0.2)
    after = resident(), files(), threads()
    assert after[1] <= before[1] and after[2] <= before[2] + 1
    assert after[0] - before[0] < 8 << 20, (before, after)


def test_analyses_leave_nothing(trace):
    for _ in range(10):
        trace.corrected(bounds=False).report
    before = resident()
    for _ in range(100):
        trace.corrected(bounds=False).report
    assert resident() - before < 8 << 20


def test_the_command_is_the_command(command, trace, tmp_path):
    own = pathlib.Path(sys.executable).with_name("retime")
    for words in [["check", trace.path], ["--version"], ["--help"], ["check", "/nothing"], ["chekc"], ["man"],
                  ["check", trace.path, "--max-memory", "1GiB"], ["check", trace.path, "--max-memory", "16MiB"],
                  ["order", trace.path]]:
        one = subprocess.run([own, *words], capture_output=True, text=True)
        other = subprocess.run([command, *words], capture_output=True, text=True)
        assert one.returncode == other.returncode, (words, one.stderr)
        assert one.stderr == other.stderr
        keep = lambda text: [line for line in text.splitlines() if "clocks" in line or "lost" not in line]
        if words[0] != "check":
            assert keep(one.stdout) == keep(other.stdout)


def test_the_command_ends_by_an_interrupt(large):
    own = pathlib.Path(sys.executable).with_name("retime")
    work = subprocess.Popen([own, "compare", large.path], stderr=subprocess.PIPE, stdout=subprocess.PIPE)
    time.sleep(0.5)
    work.send_signal(signal.SIGINT)
    _, said = work.communicate(timeout=10)
    assert work.returncode == 130 and b"interrupted" in said


def test_two_threads_that_write_to_one_place(large, tmp_path):
    out = tmp_path / "out"
    begun, ended = threading.Event(), []

    def first():
        # It hears of its progress once it has begun.
        retime.open(large.path, progress=lambda *_: begun.set()).correct(out, threads=1)
        ended.append(True)

    thread = threading.Thread(target=first)
    thread.start()
    begun.wait(10)
    with pytest.raises(retime.OutputError, match="by this process already"):
        large.correct(tmp_path / "." / "out")
    thread.join()
    assert ended and retime.open(out).check(bounds=False).before.reversed == 0


def test_profiles_are_merged(tmp_path):
    run = tmp_path / "run"
    run.mkdir()
    for rank, start in ((0, 1_000), (1, 5_000)):
        calls = [
            {
                "ph": "X",
                "cat": "kernel",
                "name": "ncclDevKernel_AllReduce",
                "pid": 0,
                "tid": 7,
                "ts": start + 1_000 * seq,
                "dur": 50 + seq,
                "args": {
                    "Collective name": "allreduce",
                    "Seq": seq,
                    "In msg nelems": 4,
                    "dtype": "Float",
                    "Process Group Name": "0",
                    "Process Group Ranks": "[0, 1]",
                },
            }
            for seq in range(20)
        ]
        profile = {
            "distributedInfo": {"rank": rank, "world_size": 2},
            "host_name": f"host{rank}",
            "traceEvents": calls,
        }
        (run / f"rank{rank}.json").write_text(json.dumps(profile))
    told = retime.merge(run, tmp_path / "job.json")
    assert "Wrote" in told
    merged = json.loads((tmp_path / "job.json").read_text())["traceEvents"]
    assert sum(it.get("cat") == "kernel" for it in merged) == 40
    with pytest.raises(retime.OutputError):
        retime.merge([run], tmp_path / "job.json")
    offsets = retime.offsets([run / "rank0.json", run / "rank1.json"])
    clocks = offsets["traces"][0]["clocks"]
    off = {host: clock["offset_ns"] for clock in clocks for host in clock["hosts"]}
    assert abs(abs(off["host0"] - off["host1"]) - 4e6) < 1e5
    (tmp_path / "offsets.json").write_text(json.dumps(offsets))
    corrected = retime.apply(None, run, tmp_path / "applied", offsets=tmp_path / "offsets.json")
    assert corrected.check().before.reversed == 0
