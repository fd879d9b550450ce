"""How good the readings of the two clocks in a recording are."""

import statistics
import struct

# struct header and struct event of recording.h.
HEADER = struct.Struct("<16sIIQQqQQqQQ")
EVENT = struct.Struct("<qQQBBHiIIQQQ")


def read(recording, ranks):
    """Per rank the readings (monotonic ns, counter, gap) of its events, and ns per tick."""
    readings, ns_per_tick = [], None
    for rank in range(ranks):
        data = (recording / f"rank.{rank}.rec").read_bytes()
        _, _, _, events, _, began, counter, _, ended, last_counter, _ = HEADER.unpack_from(data)
        if rank == 0:
            ns_per_tick = (ended - began) / (last_counter - counter)
        end = HEADER.size + events * EVENT.size
        readings.append([event[:3] for event in EVENT.iter_unpack(data[HEADER.size : end])])
    return readings, ns_per_tick


def _percentiles(values):
    ordered = sorted(values)
    shares = {"p50": 0.5, "p99": 0.99, "p99.9": 0.999, "largest": 1.0}
    count = len(ordered)
    places = {name: min(count - 1, int(share * count)) for name, share in shares.items()}
    return {name: round(ordered[place], 1) for name, place in places.items()}


def quality(recording, ranks):
    """How many events there are, how long a reading of both clocks took, and how far they
    are from each other, but for what is constant over a rank."""
    readings, ns_per_tick = read(recording, ranks)
    skews, gaps = [], []
    for events in readings:
        first, first_counter, _ = events[0]
        apart = [
            (monotonic - first) - (counter - first_counter) * ns_per_tick
            for monotonic, counter, _ in events
        ]
        middle = statistics.median(apart)
        skews += [abs(each - middle) for each in apart]
        gaps += [gap * ns_per_tick for _, _, gap in events]
    return {
        "events": len(gaps),
        "reading_gap_ns": _percentiles(gaps),
        "skew_of_clocks_ns": _percentiles(skews),
    }
