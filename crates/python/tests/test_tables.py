"""Tables hold what the command lists, for any taker."""

import json
import csv
import io
import subprocess

import pytest

import retime

pyarrow = pytest.importorskip("pyarrow")
TABLES = ["events", "messages", "collectives", "clocks", "intervals"]


def listed(command, path):
    """All events by `retime order`, as (location, event) -> the rest."""
    done = subprocess.run([command, "order", path, "--format", "csv"], capture_output=True, text=True)
    rows = csv.DictReader(io.StringIO(done.stdout))
    return {(int(row["location"]), int(row["event"])): row for row in rows}


def events(view, **options):
    columns = ["location", "event", "time", "kind", "region", "peer", "passage", "location_name", "process"]
    if isinstance(view, retime.Corrected):
        columns.append("corrected")
    return view.events(columns, **options).to_pyarrow().to_pylist()


def test_events_are_those_of_the_command(command, trace):
    expected = listed(command, trace.path)
    found = events(trace)
    assert len(found) == len(expected) == trace.check().trace.events
    for row in found:
        it = expected[row["location"], row["event"]]
        assert (row["time"], row["kind"]) == (int(it["time"]), it["kind"])
        assert (row["region"] or "") == it["region"]
        assert row["peer"] is None or str(row["peer"]) == it["peer"]
        assert (row["passage"] is not None) == (row["kind"] in ("Enter", "Leave"))
        assert row["process"] == f"MPI Rank {row['location']}"


def test_corrected_times_are_those_that_are_written(command, trace, tmp_path):
    corrected = trace.corrected()
    corrected.write(tmp_path / "corrected")
    expected = listed(command, str(tmp_path / "corrected"))
    for row in events(corrected):
        assert row["corrected"] == int(expected[row["location"], row["event"]]["time"])


def test_events_come_by_location_in_order(trace):
    last = {}
    for batch in trace.events(["location", "event"]).reader():
        assert len(set(batch.column("location").to_pylist())) == 1
        for location, event in zip(*(column.to_pylist() for column in batch.columns)):
            assert event == last.get(location, -1) + 1
            last[location] = event
    assert len(last) == 4


def test_a_table_can_be_read_again(trace):
    for view in (trace, trace.corrected()):
        for name in TABLES:
            table = getattr(view, name)()
            one, other = pyarrow.table(table), pyarrow.table(table)
            one.validate(full=True)
            assert one.equals(other) and one.num_rows > 0
            assert one.column_names == table.column_names
            assert one.schema.metadata[b"ticks_per_second"] == b"1000000000"
            assert pyarrow.schema(table) == one.schema


def test_some_locations(trace):
    ids = set(trace.events(locations=[1, 3]).to_pyarrow()["location"].to_pylist())
    assert ids == {1, 3}
    named = trace.events(locations="MPI Rank 2").to_pyarrow()
    assert set(named["location"].to_pylist()) == {2}
    assert trace.events(locations=[]).to_pyarrow().num_rows == 0


def test_a_stretch_of_time(trace):
    for view, column in ((trace, "time"), (trace.corrected(), "corrected")):
        stamps = view.events([column]).to_pyarrow()[column].to_pylist()
        base = min(trace.events(["time"]).to_pyarrow()["time"].to_pylist())
        begin, end = base + 500_000, base + 1_500_000
        expected = sorted(it for it in stamps if begin <= it <= end)
        found = view.events([column], from_="500us", to="1.5ms").to_pyarrow()[column].to_pylist()
        assert sorted(found) == expected and expected


def test_messages(trace, simulated):
    corrected = trace.corrected(truth=simulated.truth)
    messages = corrected.messages().to_pyarrow().to_pylist()
    report = corrected.report
    assert len(messages) == report.matching.messages + report.matching.acknowledgements
    assert sum(it["latency"] < 0 for it in messages) == report.before.messages.reversed
    assert sum(it["latency_corrected"] < 0 for it in messages) == 0
    true = {(it["location"], it["event"]): it["time"] for it in events(simulated.truth)}
    inside = 0
    for it in messages:
        assert it["latency"] == it["receive_time"] - it["send_time"]
        assert it["latency_corrected"] == it["receive_corrected"] - it["send_corrected"]
        assert it["latency_corrected"] >= it["least_latency"]
        latency = true[it["receive_location"], it["receive_event"]] - true[it["send_location"], it["send_event"]]
        inside += it["latency_from"] - 1 <= latency <= it["latency_to"] + 1
    assert inside == len(messages)


def test_bounds_are_missing_where_they_are_not_computed(trace):
    messages = trace.corrected(bounds=False).messages().to_pyarrow()
    assert messages["latency_from"].null_count == messages.num_rows


def test_collectives(trace):
    corrected = trace.corrected()
    rows = corrected.collectives().to_pyarrow().to_pylist()
    assert len({it["operation"] for it in rows}) == corrected.report.matching.collectives
    by_operation = {}
    for it in rows:
        by_operation.setdefault(it["operation"], []).append(it)
    for members in by_operation.values():
        if members[0]["class"] == "all-to-all":
            begin = max(it["begin_corrected"] for it in members)
            assert all(it["end_corrected"] >= begin for it in members)
            # By waits and transfers the same as by times.
            assert all(it["wait"] == begin - it["begin_corrected"] for it in members)
            assert all(it["transfer"] == it["end_corrected"] - begin for it in members)
            assert [it["begin_corrected"] for it in members if it["is_last"]] == [begin]
            assert all(it["members"] == len(members) for it in members)


def test_a_table_without_columns_is_refused(trace):
    with pytest.raises(retime.OptionError, match="at least one"):
        trace.events(columns=[])


def test_a_column_is_there_once(trace):
    with pytest.raises(retime.OptionError, match="'time' is named more than once"):
        trace.events(["time", "kind", "time"])


def test_clocks_are_called_as_the_report_calls_them(trace):
    corrected = trace.corrected()
    named = {it["clock"]: it["name"] for it in corrected.clocks().to_pyarrow().to_pylist()}
    reported = dict(enumerate(it.name for it in corrected.report.clocks.list))
    assert named == reported and "MPI Rank 1" in named.values()


def test_clocks_are_the_maps_of_the_events(trace):
    corrected = trace.corrected()
    knots = {}
    for it in corrected.clocks().to_pyarrow().to_pylist():
        knots.setdefault(it["clock"], []).append((it["recorded"], it["corrected"]))
        assert it["before"] >= 0 and it["after"] >= 0
    assert len(knots) == corrected.report.clocks.count
    clock_of = {
        location: number
        for number, clock in enumerate(corrected.report.clocks.list)
        for location in clock.locations
    }
    for it in events(corrected)[::97]:
        points = knots[clock_of[it["location"]]]
        pairs = [pair for pair in zip(points, points[1:]) if pair[0][0] <= it["time"] <= pair[1][0]]
        (left, low), (right, high) = pairs[0]
        between = low if left == right else low + (high - low) * (it["time"] - left) / (right - left)
        assert abs(between - it["corrected"]) <= 1.001


def test_intervals(trace):
    corrected = trace.corrected()
    rows = corrected.intervals().to_pyarrow().to_pylist()
    assert len(rows) == corrected.report.distortion.intervals
    assert all(it["change"] == it["corrected"] - it["recorded"] for it in rows)
    unchanged = sum(it["change"] == 0 for it in rows)
    assert unchanged == corrected.report.distortion.unchanged
    for name, roles in [
        ("before_effects", {"receive", "collective_end"}),
        ("before_causes", {"send", "collective_begin"}),
    ]:
        sizes = [abs(it["change"]) for it in rows if it["to_role"] in roles]
        found = getattr(corrected.report.distortion, name)
        assert (found.intervals, found.largest_size) == (len(sizes), max(sizes))
        assert found.mean_size == pytest.approx(sum(sizes) / len(sizes))


def test_whole_numbers_have_a_sign(trace):
    numpy = pytest.importorskip("numpy")
    for view in (trace, trace.corrected()):
        for name in TABLES:
            for field in pyarrow.schema(getattr(view, name)()):
                assert not pyarrow.types.is_unsigned_integer(field.type), (name, field)
                assert not pyarrow.types.is_integer(field.type) or field.type == pyarrow.int64(), (name, field)
    table = trace.messages().to_pyarrow()
    sent, received, latency = (table[it].to_numpy() for it in ("send_time", "receive_time", "latency"))
    assert numpy.array_equal(received - sent, latency)
    assert (received - sent).min() < 0
    pandas = pytest.importorskip("pandas")
    frame = trace.messages().to_pandas()
    assert ((frame["receive_time"] - frame["send_time"]) == frame["latency"]).all() and frame["latency"].min() < 0
    rows = trace.collectives().to_pandas()
    assert isinstance(rows["begin_time"].dtype, pandas.Int64Dtype)
    assert (rows["begin_time"] - rows["end_time"]).max() < 0


def test_a_recording_has_no_corrected_times(trace, simulated):
    corrected = trace.corrected()
    for name in TABLES[1:]:
        table = getattr(trace, name)().to_pyarrow()
        own = getattr(corrected, name)().to_pyarrow()
        assert set(own.column_names) - set(table.column_names) == {
            "messages": {"send_corrected", "receive_corrected", "latency_corrected"},
            "collectives": {"begin_corrected", "end_corrected"},
            "clocks": {"corrected"},
            "intervals": {"corrected", "change"},
        }[name]
        assert not [it for it in table.column_names if "corrected" in it]
        recorded = {"messages": ["send_time", "latency"], "collectives": ["end_time"], "intervals": ["recorded"]}
        for column in recorded.get(name, []):
            assert table[column].to_pylist() == own[column].to_pylist()
    # Where there was nothing to correct, corrected times are those of the recording.
    sound = simulated.truth.corrected().messages().to_pyarrow()
    assert sound["send_corrected"].to_pylist() == sound["send_time"].to_pylist()


def test_what_takes_all_bits(tmp_path):
    ids, late = [3, (1 << 64) - 2], (1 << 63) + 7

    def written(name, ids, time):
        file = tmp_path / name
        lines = [
            f'{{"retime-stream": 1, "ticks_per_second": 1000000000, "locations": {ids}}}',
            f'{{"location": {ids[0]}, "time": {time}, "type": "send", "message": 1}}',
            f'{{"location": {ids[1]}, "time": {time + 1}, "type": "receive", "message": 1}}',
        ]
        file.write_text("\n".join(lines) + "\n")
        return retime.open(file)

    # An id is no number to count with, and stays what it is.
    trace = written("ids.jsonl", ids, 5)
    events = trace.events(["location", "time"]).to_pyarrow()
    assert events["location"].to_pylist() == ids and events.schema.field("time").type == pyarrow.int64()
    assert trace.messages().to_pyarrow()["receive_location"].to_pylist() == ids[1:]
    assert trace.events().to_pandas()["location"].tolist() == ids
    # A time that does not fit is refused, with what it is.
    trace = written("late.jsonl", [3, 4], late)
    with pytest.raises(retime.TraceError, match=f"time stamp {late} of event 0 of location 3 does not fit"):
        trace.events().to_pyarrow()
    assert trace.events(["kind"]).to_pyarrow().num_rows == 2
    with pytest.raises(retime.TraceError, match=f"{late} does not fit"):
        trace.messages().to_pyarrow()


def test_pandas(trace):
    pandas = pytest.importorskip("pandas")
    frame = trace.events().to_pandas()
    expected = trace.events().to_pyarrow()
    assert list(frame.columns) == expected.column_names and len(frame) == expected.num_rows
    for name in expected.column_names:
        values = [None if pandas.isna(it) else it for it in frame[name]]
        assert values == expected[name].to_pylist(), name
    assert isinstance(frame["kind"].dtype, pandas.CategoricalDtype)
    for name in TABLES[1:]:
        assert len(getattr(trace.corrected(), name)().to_pandas()) > 0


def test_pandas_grows(large):
    frame = large.events(["location", "kind", "peer"]).to_pandas()
    table = large.events(["location", "kind", "peer"]).to_pyarrow()
    assert len(frame) == table.num_rows > 2 << 20
    assert frame["peer"].isna().sum() == table["peer"].null_count
    assert int(frame["location"].sum()) == sum(table["location"].to_pylist())
    assert (frame["kind"] == "Enter").sum() == table["kind"].to_pylist().count("Enter")


def test_polars(trace):
    polars = pytest.importorskip("polars")
    frame = trace.events().to_polars()
    assert frame.height == trace.events().to_pyarrow().num_rows
    assert frame["kind"].to_list() == trace.events(["kind"]).to_pyarrow()["kind"].to_pylist()
    assert polars.DataFrame(trace.messages()).height > 0


def test_parquet(trace, tmp_path):
    parquet = pytest.importorskip("pyarrow.parquet")
    trace.events().to_parquet(tmp_path / "events.parquet")
    read = parquet.read_table(tmp_path / "events.parquet")
    assert read.to_pylist() == trace.events().to_pyarrow().to_pylist()
    trace.events(locations=[]).to_parquet(tmp_path / "none.parquet")
    assert parquet.read_table(tmp_path / "none.parquet").num_rows == 0


class Failed(Exception):
    pass


def failing(table, monkeypatch, error):
    """The same table, of which reading fails after some rows."""
    groups = table._groups

    def some():
        yield next(groups())
        raise error

    monkeypatch.setattr(table, "_groups", some)
    return table


@pytest.mark.parametrize("error", [Failed(), KeyboardInterrupt()])
def test_parquet_that_fails_changes_nothing(trace, tmp_path, monkeypatch, error):
    pytest.importorskip("pyarrow.parquet")
    file = tmp_path / "events.parquet"
    with pytest.raises(type(error)):
        failing(trace.events(), monkeypatch, error).to_parquet(file)
    assert not list(tmp_path.iterdir())
    file.write_bytes(b"what was there")
    with pytest.raises(type(error)):
        failing(trace.events(), monkeypatch, error).to_parquet(file)
    assert [it.read_bytes() for it in tmp_path.iterdir()] == [b"what was there"]


def test_parquet_takes_the_place_of_what_was_there(trace, tmp_path, monkeypatch):
    parquet = pytest.importorskip("pyarrow.parquet")
    file, link = tmp_path / ("n" * 250), tmp_path / "link"
    file.write_bytes(b"what was there")
    file.chmod(0o640)
    link.symlink_to(file.name)
    trace.messages().to_parquet(link)
    assert link.is_symlink() and file.stat().st_mode & 0o777 == 0o640
    assert parquet.read_table(file).equals(trace.messages().to_pyarrow())
    assert len(list(tmp_path.iterdir())) == 2
    monkeypatch.chdir(tmp_path)
    trace.messages().to_parquet("here")
    trace.messages().to_parquet(tmp_path / "there")
    assert (tmp_path / "here").read_bytes() == (tmp_path / "there").read_bytes()
    with pytest.raises(FileNotFoundError, match="nowhere"):
        trace.messages().to_parquet("nowhere/messages")
    with open("opened", "wb") as opened:
        trace.messages().to_parquet(opened)
    assert parquet.read_table("opened").num_rows == trace.messages().to_pyarrow().num_rows


def test_pipit(trace):
    pytest.importorskip("pandas")
    for view in (trace, trace.corrected()):
        frame = view.events().to_pipit()
        assert list(frame.columns) == ["Timestamp (ns)", "Event Type", "Name", "Thread", "Process"]
        assert frame["Timestamp (ns)"].is_monotonic_increasing and frame["Timestamp (ns)"][0] == 0
        counts = frame["Event Type"].value_counts()
        assert counts["Enter"] == counts["Leave"] > 0
        instants = frame[frame["Event Type"] == "Instant"]
        assert "MpiIsend" in set(instants["Name"]) and "MPI_Isend" not in set(instants["Name"])
        assert sorted(frame["Process"].unique()) == [0, 1, 2, 3]
        assert set(frame["Thread"]) == {0}


def test_a_stream_that_is_left_alone(trace):
    reader = trace.events().reader()
    reader.read_next_batch()
    del reader
    trace.events().__arrow_c_stream__()
    trace.events().__arrow_c_schema__()


def test_shared_traces_give_tables(shared):
    for anchor in sorted(shared.rglob("*.otf2")):
        trace = retime.open(anchor)
        try:
            report = trace.check(bounds=False)
        except retime.Error:
            continue
        assert trace.events().to_pyarrow().num_rows == report.trace.events
        found = trace.messages().to_pyarrow()
        assert found.num_rows == report.matching.messages + report.matching.acknowledgements
        for name in TABLES:
            getattr(trace, name)().to_pyarrow().validate(full=True)
        assert trace.events().to_pipit() is not None and trace.picture()


def test_ranks_are_taken_from_paths(tmp_path):
    for rank in range(2):
        place = tmp_path / f"run/worker-{rank}"
        place.mkdir(parents=True)
        event = {"ph": "X", "cat": "kernel", "name": "k", "pid": 1, "tid": 7, "ts": 5, "dur": 2}
        (place / "trace.json").write_text(json.dumps({"traceEvents": [event]}))
    trace = retime.open(tmp_path / "run", rank_from=r"worker-(\d+)/")
    assert [it.process for it in trace.locations] == ["rank 0", "rank 1"]
    assert trace.check().trace["processes"] == 2
    with pytest.raises(retime.OptionError):
        retime.open(tmp_path / "run", "kineto", rank_from="x")
    with pytest.raises(retime.Error):
        retime.open(tmp_path / "run", rank_from="(")
