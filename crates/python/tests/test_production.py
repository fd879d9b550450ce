"""A training job of a production system, whose stages share nothing but messages.

The recording (NDTimeline, 8 ranks, pipeline by data parallelism) has times of each step from its
begin, of hosts whose clocks agree to some 10 us. It is written as profiles, with hosts that are
shifted, and comes back.
"""

import json
import statistics

import pytest

import retime
from conftest import REPOSITORY

RECORDING = REPOSITORY.parent / "shared/traces/gpu/trace-ST.parquet"
RANKS = 8
# Between the begins of two steps, which last half as long.
STEP = 5_000_000_000
# By how many nanoseconds each host of two ranks is ahead.
SHIFTED = [0, 1_700_000, -900_000, 0]


def communication(rank, kind):
    """The stream, the name and the arguments of what communicates; nothing of the rest."""
    column, stage = rank % 2, rank // 2
    if kind.endswith(("-send", "-recv")):
        sends = kind.endswith("send")
        other = rank + (2 if kind.startswith("forward") == sends else -2)
        ends = {"Dst Rank": other} if sends else {"Src Rank": other}
        return (
            ["forward-send", "forward-recv", "backward-send", "backward-recv"].index(kind) + 20,
            "ncclDevKernel_SendRecv",
            {"Collective name": "send" if sends else "recv", **ends},
            (f"column {column}", list(range(column, RANKS, 2))),
        )
    row = (f"row {stage}", [2 * stage, 2 * stage + 1])
    ends = (f"ends {column}", [column, column + 6])
    known = {
        "params-all-gather": ("AllGather", "_allgather_base", row),
        "grads-reduce-scatter": ("ReduceScatter", "_reduce_scatter_base", row),
        "embedding-grads-all-reduce": ("AllReduce", "allreduce", ends),
    }
    if kind not in known:
        return None
    kernel, name, group = known[kind]
    return 30, f"ncclDevKernel_{kernel}", {"Collective name": name}, group


def profile(rank, events, steps, shift):
    written = []
    numbers = {}
    for it in sorted(events, key=lambda it: (it["step"], it["start_ts"])):
        begin = round(it["start_ts"] * 1e9) + (steps.index(it["step"]) + 1) * STEP + shift
        stream, name, arguments = 1, it["optype"], {}
        known = communication(rank, it["optype"])
        if known:
            stream, name, arguments, (group, members) = known
            if stream == 30:
                arguments["Seq"] = numbers[group] = numbers.get(group, -1) + 1
            arguments |= {
                "In msg nelems": 1,
                "Out msg nelems": 1,
                "dtype": "BFloat16",
                "Group size": len(members),
                "Process Group Name": group,
                "Process Group Ranks": str(members),
            }
        written.append(
            {"ph": "X", "cat": "kernel", "name": name, "pid": rank, "tid": stream}
            | {"ts": begin / 1000, "dur": round(it["duration"] * 1e9) / 1000, "args": arguments}
        )
    return {
        "distributedInfo": {"backend": "nccl", "rank": rank, "world_size": RANKS},
        "host_name": f"host{rank // 2}",
        "traceEvents": written,
    }


def write(directory, shifts):
    events = pytest.importorskip("pyarrow.parquet").read_table(RECORDING).to_pylist()
    steps = sorted({it["step"] for it in events})
    directory.mkdir()
    for rank in range(RANKS):
        own = [it for it in events if it["rank"] == rank]
        made = profile(rank, own, steps, shifts[rank // 2])
        (directory / f"rank{rank}.json").write_text(json.dumps(made))


def later(directory):
    """By how much receives end later than their sends, in us: the median of each direction."""
    ends = {}
    for path in directory.glob("rank*.json"):
        made = json.loads(path.read_text())
        rank = made["distributedInfo"]["rank"]
        for it in made["traceEvents"]:
            of = it["args"]
            way = (rank, of["Dst Rank"]) if "Dst Rank" in of else (of.get("Src Rank"), rank)
            if way[0] is not None:
                both = ends.setdefault(way, ([], []))
                both["Src Rank" in of].append(it["ts"] + it["dur"])
    both = {way: zip(sorted(sent), sorted(received)) for way, (sent, received) in ends.items()}
    return {way: statistics.median(to - since for since, to in its) for way, its in both.items()}


@pytest.mark.skipif(not RECORDING.exists(), reason=f"there is no {RECORDING}")
def test_hosts_that_share_only_messages_come_back(tmp_path):
    write(tmp_path / "recorded", [0] * 4)
    write(tmp_path / "shifted", SHIFTED)
    recorded = retime.open(tmp_path / "recorded").check()
    assert recorded.before["messages"]["total"] == 12 * 128
    assert recorded.before.reversed == 0
    done = retime.open(tmp_path / "shifted").correct(tmp_path / "corrected")
    assert done.before.reversed > 500 and done.after.reversed == 0
    before, shifted, after = (later(tmp_path / it) for it in ("recorded", "shifted", "corrected"))
    assert max(abs(shifted[it] - before[it]) for it in before) > 2_500
    # The middle half of these differences is 14 to 144 us wide.
    assert max(abs(after[it] - before[it]) for it in before) < 14
