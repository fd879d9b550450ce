"""Space-time diagrams: calls as boxes, messages as lines, each kind as one collection."""

import collections

from ._html import RECORDED

# The least and most stamp; whether these were asked for; where the axis begins, and its rate.
_Stretch = collections.namedtuple("_Stretch", "begin end is_from is_to base rate")
# Columns of numpy: name (its number), depth, row, begin and end (stamps).
Calls = collections.namedtuple("Calls", "names name depth row begin end stretch")
# The same of messages: rows and stamps of both ends.
Messages = collections.namedtuple("Messages", "sender sent receiver received stretch")


class Stretch(_Stretch):
    """A stretch of time."""

    def seconds(self, stamps):
        """Stamps as they are shown."""
        return (stamps - self.base) / self.rate

    def ends(self, stamps):
        """What is shown of it, in seconds: as far as there are events."""
        import pyarrow.compute

        ends = pyarrow.compute.min_max(stamps).as_py()
        begin, end = ends["min"] or 0, ends["max"] or 0
        begin, end = max(begin, self.begin), min(end, self.end)
        return self.seconds(begin), self.seconds(end)


class Rows:
    """Which row shows which location, by id."""

    def __init__(self, ids):
        self._ids = ids

    def of(self, ids):
        """Rows of an array of ids; -1 where one is not shown."""
        import numpy

        known = numpy.array(self._ids, dtype=ids.dtype)
        if not len(known):
            return numpy.full(len(ids), -1)
        at = numpy.searchsorted(known, ids).clip(max=len(known) - 1)
        return numpy.where(known[at] == ids, at, -1)


def calls(events, time, rows, stretch):
    """The calls of a table of events."""
    import numpy

    events = events.unify_dictionaries()
    row = rows.of(_array(events["location"]))
    names, name = _coded(events["region"])
    # Only enter and leave, which have the numbers 0 and 1; locations one after the other.
    passage = _coded(events["passage"])[1]
    chosen = numpy.flatnonzero(passage >= 0)
    chosen = chosen[numpy.argsort(row[chosen], kind="stable")]
    row, name, passage = row[chosen], name[chosen], passage[chosen]
    stamps = _array(events[time])[chosen]
    borders = numpy.flatnonzero(numpy.diff(row)) + 1
    found = [numpy.empty((0, 5), dtype=numpy.int64)]
    parts = (numpy.split(column, borders) for column in (name, passage, stamps, row))
    for name, passage, stamps, row in zip(*parts):
        if len(row):
            found.append(_calls_of(name, passage, stamps, row[0], stretch))
    return Calls(names, *numpy.concatenate(found).T, stretch)


def _calls_of(name, passage, stamps, row, stretch):
    """Those of one location, a row for each: what is entered at a depth is what is left there
    next."""
    import numpy

    steps = 1 - 2 * passage.astype(numpy.int64)
    # Leaves without an enter are of what was entered before the stretch.
    before = max(0, -int(steps.cumsum().min()))
    steps = numpy.concatenate([numpy.ones(before, dtype=numpy.int64), steps])
    stamps = numpy.concatenate([numpy.full(before, min(stretch.begin, stamps[0])), stamps])
    name = numpy.concatenate([numpy.full(before, -1, dtype=numpy.int64), name])
    depth = steps.cumsum() - (steps > 0)
    order = numpy.argsort(depth, kind="stable")
    depth, steps, stamps, name, numbers = (it[order] for it in (depth, steps, stamps, name, numpy.arange(len(steps))))
    entered = numpy.flatnonzero(steps > 0)
    # The next event at its depth, if there is one.
    left = (entered + 1).clip(max=len(steps) - 1)
    is_left = (left > entered) & (depth[left] == depth[entered])
    # What is not left in the stretch goes on to its end.
    last = stretch.end if stretch.is_to else stamps.max()
    ends = numpy.where(is_left, stamps[left], last)
    is_known = numbers[entered] >= before
    names = numpy.where(is_known, name[entered], name[left])
    columns = [names, depth[entered], numpy.full(len(entered), row), stamps[entered], ends]
    found = numpy.stack(columns, axis=1)
    return found if stretch.is_from else found[is_known]


def messages(table, time, rows, stretch):
    """The messages of a table of these between locations that are shown."""
    import numpy

    names = ["send_location", f"send_{time}", "receive_location", f"receive_{time}"]
    found = [[numpy.empty(0, dtype=numpy.int64)] * 4]
    for batch in table.reader():
        columns = [batch.column(it).to_numpy(zero_copy_only=False) for it in names]
        sender, receiver = rows.of(columns[0]), rows.of(columns[2])
        _, sent, _, received = columns
        is_shown = (sender >= 0) & (receiver >= 0) & (sent <= stretch.end) & (received >= stretch.begin)
        found.append([it[is_shown] for it in (sender, sent, receiver, received)])
    return Messages(*(numpy.concatenate(it) for it in zip(*found)), stretch)


def draw_calls(ax, calls, most):
    """Draws calls, inner ones upon outer ones; what is left out, in words."""
    import numpy
    from matplotlib import pyplot
    from matplotlib.collections import PolyCollection
    from matplotlib.patches import Patch

    count = len(calls.begin)
    chosen = numpy.arange(count)
    if count > most:
        chosen = numpy.argsort(calls.begin - calls.end, kind="stable")[:most]
    chosen = chosen[numpy.argsort(calls.depth[chosen], kind="stable")]
    begin, end = (calls.stretch.seconds(it[chosen]) for it in (calls.begin, calls.end))
    height = 0.8 * 0.8 ** calls.depth[chosen]
    low, high = calls.row[chosen] - height / 2, calls.row[chosen] + height / 2
    corners = [(begin, low), (begin, high), (end, high), (end, low)]
    boxes = numpy.stack([numpy.stack(it, axis=1) for it in corners], axis=1)
    # By name, whatever their numbers are.
    met = sorted({calls.names[it] for it in numpy.unique(calls.name) if it >= 0})
    colour = pyplot.get_cmap("tab20")
    place = {name: number for number, name in enumerate(met)}
    palette = numpy.array([colour(place.get(it, 0) % 20) for it in [*calls.names, None]])
    faces = palette[calls.name[chosen]]
    ax.add_collection(PolyCollection(boxes, facecolors=faces, edgecolors="face", linewidths=0.3))
    handles = [Patch(color=colour(number), label=name) for name, number in place.items() if number < 20]
    if handles:
        ax.legend(handles=handles, fontsize="x-small", loc="upper right")
    return f"the longest {most:,} of {count:,} calls" if count > most else ""


def draw_messages(ax, messages, most):
    """Draws messages, reversed ones upon all others; what is left out, in words."""
    import numpy
    from matplotlib.collections import LineCollection

    latency = messages.received - messages.sent
    count, is_reversed = len(latency), latency < 0
    chosen = numpy.arange(count)
    if count > most:
        chosen = numpy.lexsort([-latency, ~is_reversed])[:most]
    chosen = chosen[numpy.argsort(is_reversed[chosen], kind="stable")]
    sent, received = (messages.stretch.seconds(it[chosen]) for it in (messages.sent, messages.received))
    ends = [(sent, messages.sender[chosen]), (received, messages.receiver[chosen])]
    lines = numpy.stack([numpy.stack(it, axis=1) for it in ends], axis=1)
    colours = [RECORDED if it else "black" for it in is_reversed[chosen].tolist()]
    ax.add_collection(LineCollection(lines, colors=colours, linewidths=0.6))
    if count <= most:
        return ""
    reversed_ones = int(is_reversed.sum())
    kept = min(reversed_ones, most)
    rest = f", the other {most - kept:,} the longest" if most > kept else ""
    return f"{most:,} of {count:,} messages, of {reversed_ones:,} reversed ones {kept:,}{rest}"


def _array(column):
    return column.combine_chunks().to_numpy(zero_copy_only=False)


def _coded(column):
    """The names of a column, and their numbers by row; -1 for none."""
    column = column.combine_chunks()
    return column.dictionary.to_pylist(), column.indices.fill_null(-1).to_numpy(zero_copy_only=False)
