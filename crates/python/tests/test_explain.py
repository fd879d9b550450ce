"""What became of events is what `retime explain` says."""

import json
import subprocess

import pytest

import retime

# A send that was never received, a receive of nobody, and a message with both ends.
ODD = [
    {"retime-stream": 1, "locations": [0, 1]},
    {"location": 0, "time": 10, "type": "send", "message": 1},
    {"location": 0, "time": 20, "type": "send", "message": 2},
    {"location": 1, "time": 5, "type": "receive", "message": 1},
    {"location": 1, "time": 40, "type": "receive", "message": 7},
    {"location": 1, "time": 50},
]


def told(command, trace, *words):
    done = subprocess.run([command, "explain", trace.path, *words, "-q", "--json", "-"], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


@pytest.fixture
def odd(tmp_path):
    place = tmp_path / "odd.jsonl"
    place.write_text("".join(json.dumps(line) + "\n" for line in ODD))
    return retime.open(place)


def test_an_event_is_explained_as_by_the_command(command, trace, chance):
    corrected = trace.corrected()
    messages = pytest.importorskip("pyarrow").table(corrected.messages()).to_pylist()
    operations = corrected.collectives().to_pyarrow().to_pylist()
    ends = [it for it in operations if it["end_event"] is not None]
    asked = [(it[f"{end}_location"], it[f"{end}_event"]) for it in chance.sample(messages, 2) for end in ("send", "receive")]
    asked += [(it["location"], it["end_event"]) for it in chance.sample(ends, 2)] + [(0, 0)]
    for location, event in asked:
        said = corrected.explain(location, event)
        assert said.to_dict() == told(command, trace, f"{location}:{event}")
        assert (said.event.location, said.event.event) == (location, event)


def test_a_message_is_explained_as_its_row_says(trace):
    pytest.importorskip("pyarrow")
    corrected = trace.corrected()
    message = corrected.messages().to_pyarrow().slice(5, 1).to_pylist()[0]
    found = corrected.explain(message["receive_location"], message["receive_event"]).follows.tightest_recorded
    assert (found.other.location, found.other.event) == (message["send_location"], message["send_event"])
    assert found.recorded_latency_ticks == message["latency"]
    assert found.corrected_latency_ticks == message["latency_corrected"]
    assert found.least_latency_ticks == message["least_latency"]


def test_a_recording_has_no_corrected_times(trace):
    said = trace.explain(0, 0)
    assert said.event.corrected_ticks is None
    assert said.event.recorded_ticks == trace.corrected().explain(0, 0).event.recorded_ticks


def test_what_no_dependency_rests_on_is_a_table(command, odd):
    pytest.importorskip("pyarrow")
    table = odd.unused().to_pyarrow()
    assert table.column_names == ["kind", "why", "location", "event"]
    found = [(it["kind"], it["location"], it["event"]) for it in table.to_pylist()]
    listed = told(command, odd, "--unused")["kinds"]
    assert found == [(kind["kind"], it["location"], it["event"]) for kind in listed for it in kind["places"]]
    assert sorted(found) == [("receive-without-send", 1, 1), ("send-without-receive", 0, 1)]
    for kind, location, event in found:
        assert kind in [it.kind for it in odd.explain(location, event).defects]


def test_where_everything_is_used_the_table_is_empty(trace):
    pytest.importorskip("pyarrow")
    assert trace.unused().to_pyarrow().num_rows == 0


def test_what_is_not_there_is_refused_in_the_words_of_the_command(trace):
    with pytest.raises(retime.TraceError, match="no location has the id 99"):
        trace.explain(99, 0)
    with pytest.raises(retime.TraceError, match="there is no event 100000000"):
        trace.explain(0, 100_000_000)
    for location, event in [(0, -1), (-1, 0), (0, 1 << 64)]:
        with pytest.raises(retime.TraceError, match=f"no event {event} of location {location}"):
            trace.explain(location, event)
