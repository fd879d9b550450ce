"""The clock as a library: for programs and formats of your own."""

import array
import operator
from collections import namedtuple

from . import _retime
from ._errors import OptionError
from ._words import words

PiggybackClock = _retime.PiggybackClock


def _bytes(values, name):
    """Whole numbers as eight bytes each: of a buffer without a look at each of them."""
    try:
        view = memoryview(values)
    except (TypeError, ValueError):
        try:
            return array.array("q", values).tobytes()
        except (TypeError, OverflowError) as error:
            raise TypeError(f"{name}: give whole numbers of 64 bits") from error
    if view.itemsize == 8 and view.format in ("q", "l"):
        return view.tobytes()
    if view.format in ("d", "f", "e"):
        raise TypeError(f"{name}: give whole numbers, not numbers with a fraction")
    try:
        return array.array("q", view.tolist()).tobytes()
    except NotImplementedError:  # The order of bytes of another machine.
        return _bytes(values.tolist(), name)
    except OverflowError as error:
        raise TypeError(f"{name}: give whole numbers of 64 bits") from error


def _counted(call, *given):
    """A call with numbers, of which all but times are counted from 0."""
    try:
        return call(*given)
    except OverflowError:
        numbers = ", ".join(repr(it) for it in given if isinstance(it, int))
        message = "a number is beyond what there can be; locations, clocks and rates are counted from 0"
        raise OptionError(f"{message}: {numbers}" if numbers else message) from None


def _name(given):
    """The number or the name of a message or an operation."""
    if isinstance(given, str):
        return given
    if hasattr(given, "__index__") and 0 <= operator.index(given) < 2**64:
        return operator.index(given)
    raise TypeError(f"give a whole number from 0 to 2^64 - 1, or a text, that names it, not {given!r}")


def _like(values, like):
    """Eight-byte numbers as what was given: an array of numpy, or one of Python."""
    if hasattr(like, "__array__"):
        import numpy

        return numpy.frombuffer(values, dtype=numpy.int64).reshape(numpy.shape(like))
    return array.array("q", values)


class Filter:
    """Corrects a stream of events in one pass, while it comes in.

    ``clocks`` has the number of the clock that each location reads, counted from 0. Times are
    whole ticks from an origin of one's own, also before it (below 0). The options are those of ``retime stream``.

    >>> from retime import Filter
    >>> stream = Filter([0, 1], ticks_per_second=1_000_000, min_delay="2us")
    >>> stream.push(1, 40_000, payload="work")
    >>> stream.receive(1, 90_000, message=1, payload="receive")
    >>> stream.send(0, 90_998, message=1, payload="send")
    >>> stream.finish()
    >>> [(event.payload, event.time) for event in stream]
    [('work', 41000), ('send', 90998), ('receive', 91000)]
    """

    def __init__(self, clocks, **options):
        line = words("stream", [], options)
        # That command takes no path.
        self._filter = _counted(_retime.Filter, list(clocks), line[:-1])

    def push(self, location, time, payload=None):
        """An event that has nothing to do with other locations."""
        _counted(self._filter.internal, location, time, payload)

    def send(self, location, time, message, payload=None):
        """A message leaves; ``message`` is a number or a name that its receive has too."""
        _counted(self._filter.send, location, time, _name(message), payload)

    def receive(self, location, time, message, payload=None):
        """A message has arrived."""
        _counted(self._filter.receive, location, time, _name(message), payload)

    def begin(self, location, time, operation, participants, payload=None):
        """A location enters an operation that so many take part in, as a barrier."""
        operation = _name(operation)
        _counted(self._filter.begin, location, time, operation, participants, payload)

    def end(self, location, time, operation, participants, payload=None):
        """A location leaves an operation that nobody leaves before all have entered it."""
        operation = _name(operation)
        _counted(self._filter.end_of, location, time, operation, participants, payload)

    def heartbeat(self, location, time):
        """Nothing comes from a location before a time any more."""
        _counted(self._filter.heartbeat, location, time)

    def close(self, location):
        """Nothing comes from a location any more."""
        _counted(self._filter.end, location)

    def finish(self):
        """Nothing comes any more: all that is left can be taken."""
        self._filter.finish()

    def __iter__(self):
        """The events that have left, in the order of their corrected times."""
        while (left := self._filter.pop()) is not None:
            yield Event(*left)


class Event:
    """An event that has left a filter."""

    __slots__ = ("location", "recorded", "time", "payload")

    def __init__(self, location, recorded, time, payload):
        self.location, self.recorded, self.time, self.payload = location, recorded, time, payload

    def __repr__(self):
        return f"Event(location={self.location}, recorded={self.recorded}, time={self.time}, payload={self.payload!r})"


#: A clock that was set: between which of its stamps, the ticks that it gained, and other clocks of
#: which one may have been set instead.
ClockStep = namedtuple("ClockStep", "clock after until by alternatives")


class Alignment:
    """Clocks on one time.

    ``relations`` says of each clock how it is tied to the reference: ``both ways``, ``one
    way`` or ``unrelated``; ``shortest`` is the minimal delay that shows, in ticks, if any
    does; ``outliers`` counts dependencies that contradict all others; ``steps`` are clocks
    that were set, each ``(clock, after, until, by, alternatives)``: between which stamps, what it
    gained, and the clocks of which one may have been set instead.
    """

    def __init__(self, alignment):
        self._alignment = alignment
        self.relations = alignment.relations
        self.shortest = alignment.shortest
        self.outliers = alignment.outliers
        self.steps = [ClockStep(*it) for it in alignment.steps]

    def __repr__(self):
        tied = sum(it != "unrelated" for it in self.relations)
        return f"<retime alignment of {tied} of {len(self.relations)} clocks>"

    def knots(self, clock):
        """What to add to a clock, as stamps and ticks, linear in between."""
        return _counted(self._alignment.knots, self._known(clock))

    def corrected(self, clock, stamps):
        """Stamps of a clock on the time of the reference: an array of numpy for one of
        numpy, otherwise an ``array.array``."""
        clock = self._known(clock)
        found = _counted(self._alignment.corrected, clock, _bytes(stamps, "stamps"))
        return _like(found, stamps)

    def _known(self, clock):
        clock = operator.index(clock)
        if not 0 <= clock < len(self.relations):
            raise OptionError(f"there is no clock {clock}: there are {len(self.relations)}")
        return clock


def align(edges, ticks_per_second=1_000_000_000, reference=0):
    """Clocks that agree as well as messages can tell, for formats of your own.

    ``edges`` has a row ``(clock of the cause, its stamp, clock of the effect, its stamp)``
    for each message: rows, an array of numpy with four columns, or a dictionary or tuple of
    four columns. Stamps are whole ticks; clocks are numbered from 0.

    >>> from retime import align
    >>> there = [(0, 1000 * i, 1, 1000 * i - 4700 + i % 7) for i in range(2000)]
    >>> back = [(1, 1000 * i - 4500, 0, 1000 * i + 800 + i % 5) for i in range(2000)]
    >>> aligned = align(there + back)
    >>> aligned.relations
    ['both ways', 'both ways']
    >>> abs(aligned.corrected(1, [95_000])[0] - 100_000) < 10
    True
    """
    columns = [_bytes(it, "edges") for it in _columns(edges)]
    return Alignment(_counted(_retime.align, *columns, ticks_per_second, reference))


def _columns(edges):
    if hasattr(edges, "shape"):
        if len(edges.shape) != 2 or edges.shape[1] != 4:
            raise TypeError("edges: give an array with four columns")
        if edges.dtype.kind not in "iu":
            raise TypeError("edges: give whole numbers, not numbers with a fraction")
        if edges.dtype.kind == "u" and (edges > 2**63 - 1).any():
            raise TypeError("edges: give whole numbers of 64 bits with a sign")
        return [edges[:, at].astype("int64") for at in range(4)]
    if isinstance(edges, dict):
        edges = tuple(edges.values())
    if isinstance(edges, tuple) and len(edges) == 4 and all(hasattr(it, "__len__") for it in edges):
        return list(edges)
    rows = list(edges)
    if any(len(row) != 4 for row in rows):
        raise TypeError("edges: give rows of four numbers")
    return [list(column) for column in zip(*rows)] if rows else [[], [], [], []]
