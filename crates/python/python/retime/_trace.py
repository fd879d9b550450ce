"""Traces."""

import builtins
import collections
import json
import os
import tempfile
import threading

from . import _html, _plots, _retime, _tables
from ._errors import ClosedError, OptionError, TraceError
from ._progress import hearer, watching
from ._report import Comparison, Part, Report
from ._tables import Table
from ._words import path as path_of
from ._words import text, words

Location = collections.namedtuple("Location", "id name process_number process node")
Location.__doc__ = "Whoever recorded events of its own: a thread of a rank, a stream of an accelerator."


def ask(command, positional, options, progress=None):
    """Does what the command does; returns report, outcome, exit code and what was written."""
    with watching(progress) as hears:
        return _retime.ask(words(command, positional, options), hears)


class View(_plots.Plots):
    """The tables of a trace, at recorded or at corrected times."""

    _is_corrected = False

    # What has the locations, the rate and the events.
    def _events_of(self):
        raise NotImplementedError

    # What has the other tables.
    def _study(self):
        raise NotImplementedError

    @property
    def locations(self):
        """All locations, in the order of the trace."""
        return [Location(*place) for place in self._events_of().locations]

    @property
    def ticks_per_second(self):
        """How fast the ticks run that all times are counted in."""
        return self._events_of().ticks_per_second

    def events(self, columns=None, locations=None, from_=None, to=None):
        """All events, location by location in their order, in batches.

        ``columns`` are some of ``location`` (its id), ``location_name``, ``process``,
        ``event`` (its number there), ``time`` (ticks, as recorded), ``corrected``, ``kind``
        (as the format calls it), ``region`` (that is entered or left), ``passage``
        (``enter`` or ``leave``) and ``peer`` (the id of the location it speaks to or hears
        from). ``locations`` are ids, or names of locations or processes; ``from_`` and
        ``to`` bound the time after the first event, such as ``"2.5ms"``.
        """
        table = self._events(columns, locations, from_, to)
        return Table(table, lambda: _tables.pipit(self))

    def _events(self, columns=None, locations=None, from_=None, to=None):
        if isinstance(columns, str):
            raise TypeError("columns: give a list of names")
        window = None
        if from_ is not None or to is not None:
            window = self._window(from_, to)
        places = None if locations is None else self._places(locations)
        columns = None if columns is None else list(columns)
        if columns == []:
            raise OptionError("columns: give the name of at least one")
        twice = next((it for it in columns or () if columns.count(it) > 1), None)
        if twice is not None:
            raise OptionError(f"columns: {twice!r} is named more than once")
        return self._events_of().events(columns, places, window)

    def _window(self, from_, to):
        base, rate = self._study().base, self.ticks_per_second
        last = (1 << 64) - 1
        begin = 0 if from_ is None else base + _retime.ticks(text("from_", from_), rate)
        end = last if to is None else base + _retime.ticks(text("to", to), rate)
        if begin > end:
            raise OptionError("--from lies after --to")
        return min(begin, last), min(end, last)

    def _places(self, wanted):
        if isinstance(wanted, (str, int)):
            wanted = [wanted]
        known = self.locations
        found = set()
        for one in wanted:
            fits = {
                number
                for number, place in enumerate(known)
                if one in ((place.name, place.process) if isinstance(one, str) else (place.id,))
            }
            if not fits:
                raise OptionError(f"locations: the trace has no location or process {one!r}")
            found |= fits
        return sorted(found)

    def messages(self):
        """Messages with both ends: locations, numbers of events, times and ``latency`` in
        ticks as recorded, and of :meth:`Trace.corrected` as corrected, ``least_latency``, the
        minimal delay, and between which values the true one lies (``latency_from``,
        ``latency_to``), if the clocks keep to their drift bound."""
        return Table(self._study().messages(self._is_corrected))

    def collectives(self):
        """Who took part in which collective operation, and what it proves (``class``)."""
        return Table(self._study().collectives(self._is_corrected))

    def clocks(self):
        """What each clock shows, and of :meth:`Trace.corrected` what time that is: at all
        knots, linear in between; by how many ticks the truth can be ``before`` and
        ``after``."""
        return Table(self._study().clocks(self._is_corrected))

    def intervals(self):
        """The ticks from each event that communicates to the next one of its location, as
        recorded, and of :meth:`Trace.corrected` as corrected."""
        return Table(self._study().intervals(self._is_corrected))

    def explain(self, location, event, progress=None):
        """What became of an event, by the id of its location and its number there.

        A part with the fields of ``retime explain --json``: what it is recorded as, the events
        that it ``follows`` and ``precedes`` with their times and latencies, by which ``rule``
        these were found, or why there are none (``defects``, ``unused``). Of
        :meth:`Trace.corrected` it is what ``retime explain`` says; of a recording corrected
        times are missing. The trace is read again for the first one.
        """
        with watching(progress) as hears:
            try:
                found = self._study().explain(location, event, hears)
            except OverflowError:
                # Such numbers have neither locations nor events.
                raise TraceError(f"there is no event {event} of location {location}") from None
            return Part(json.loads(found))

    def unused(self, progress=None):
        """The events of communication that no dependency rests on, since the recording lacks or
        contradicts something: ``kind`` (as ``retime explain --unused`` names it), ``why``,
        ``location`` (its id) and ``event``."""
        with watching(progress) as hears:
            return Table(self._study().unused(hears))

    @property
    def report(self):
        """What was found."""
        return Report(self._study().report())

    def picture(self, progress=None):
        """What can be seen of it: the data of the page that ``--html`` writes."""
        with watching(progress) as hears:
            return json.loads(self._study().picture(hears))


class Trace(View):
    """A trace on disk; :func:`retime.open` gives one.

    It can be used with ``with``, and is closed then; otherwise by :meth:`close`, or when
    nobody has it any more.
    """

    def __init__(self, path, format=None, progress=None, *, rank_from=None):
        several = path if isinstance(path, (list, tuple)) else [path]
        self._paths = [path_of(one) for one in several]
        if not self._paths:
            raise OptionError("give at least one file")
        self._path = self._paths[0]
        if format is not None and rank_from is not None:
            raise OptionError("give format or rank_from: ranks by path are those of profiles")
        self._format = {"format": format} if rank_from is None else {"rank_from": rank_from}
        self._progress = hearer(progress)
        self._opened = self._studied = self._page = None
        self._opened = _retime.Opened(self._path, self._paths[1:], format, rank_from)
        self._lock = threading.Lock()

    @property
    def path(self):
        """The path it was opened by; the first one of several."""
        return self._path

    @property
    def format(self):
        """What its format is called."""
        return self._events_of().format

    def __fspath__(self):
        if len(self._paths) > 1:
            raise OptionError("a trace of several files has no one path: give the files")
        return self._path

    def __repr__(self):
        if self._opened is None:
            return f"<retime trace {self._path}, closed>"
        return f"<retime trace {self._path}, {self._opened.format}>"

    def _repr_html_(self):
        if self._opened is None:
            return f"<p>{_html.html.escape(repr(self))}</p>"
        # Shown again it is not analysed again.
        if self._page is None:
            self._page = self.check(bounds="off")._repr_html_()
        return self._page

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    @property
    def closed(self):
        """Whether it was closed."""
        return self._opened is None

    def close(self):
        """Closes it; tables and reports that were made of it stay."""
        self._opened = self._studied = self._page = None

    def _events_of(self):
        opened = self._opened
        if opened is None:
            raise ClosedError(f"{self._path} was closed; open it again with retime.open()")
        return opened

    def _study(self):
        self._events_of()
        with self._lock:
            if self._studied is None:
                given = self._given({"bounds": "on"})
                with watching(self._progress) as hears:
                    self._studied = _retime.Studied(words("check", self._paths, given), hears)
            return self._studied

    def _given(self, options):
        self._events_of()
        return {**self._format, **options}

    def check(self, **options):
        """Counts contradictions; the options are those of ``retime check``."""
        told = ask("check", self._paths, self._given(options), self._progress)
        report, outcome, exit_code, _ = told
        return Report(report, outcome, exit_code)

    def correct(self, out=None, **options):
        """Writes a corrected copy to ``out``; the options are those of ``retime correct``.

        Without ``out`` nothing is written: the report says what would come out, and
        :meth:`corrected` gives the times.
        """
        if out is None and options.get("output") is None:
            return self.corrected(**options).report
        given = self._given(options)
        if out is not None:
            given["output"] = path_of(out)
        told = ask("correct", self._paths, given, self._progress)
        report, outcome, exit_code, written = told
        return Report(report, outcome, exit_code, written[0])

    def corrected(self, **options):
        """The trace at corrected times, in memory; the options are those of ``correct``."""
        return Corrected(self, self._given(options))

    def compare(self, truth=None, **options):
        """All methods side by side; the options are those of ``retime compare``."""
        if truth is not None:
            options["truth"] = path_of(truth)
        told = ask("compare", self._paths, self._given(options), self._progress)
        report, outcome, exit_code, _ = told
        return Comparison(report, outcome, exit_code)


class Corrected(View):
    """A trace at corrected times, in memory: nothing is written."""

    _is_corrected = True

    def __init__(self, trace, options):
        self._trace = trace
        self._options = dict(options)
        self._page = None
        # A path that is asked for but never written to.
        line = words("correct", trace._paths, {**options, "output": os.devnull})
        with watching(trace._progress) as hears:
            self._studied = _retime.Studied(line, hears)

    def _events_of(self):
        return self._studied

    def _study(self):
        return self._studied

    def __repr__(self):
        return f"<retime trace {self._trace.path}, corrected>"

    def _repr_html_(self):
        if self._page is None:
            picture = self.picture()
            self._page = _html.page(self.report, _html.latencies(picture) + _html.curves(picture))
        return self._page

    def write(self, out, **options):
        """Writes the corrected copy, as :meth:`Trace.correct` with the same options."""
        return self._trace.correct(out, **{**self._options, **options})


def open(path, format=None, progress=None, *, rank_from=None):
    """Opens a trace, in any format that the command reads.

    ``path`` is whatever the command takes: an anchor file or the directory that holds it, a
    file, or a list of the files of one trace. ``format`` overrides what the
    path shows; ``rank_from`` is a regular expression that takes the ranks of profiles from
    their paths, as ``r"worker-(\\d+)/"``. ``progress`` is ``False`` for no bar on long work,
    ``True`` for one in any case, or a function of stage, bytes done and bytes of all.
    """
    if isinstance(path, (list, tuple)):
        # Of an archive the anchor stands for all of its files.
        anchors = [one for one in map(path_of, path) if one.endswith(".otf2")]
        path = anchors if len(anchors) == 1 else path
    return Trace(path, format, progress, rank_from=rank_from)


def undo(trace, out, progress=None, **options):
    """Restores the original of a corrected trace, byte for byte, in ``out``; opens it.

    The options are those of ``retime undo``.
    """
    ask("undo", [trace], {**options, "output": path_of(out)}, progress)
    return open(out, options.get("format"), rank_from=options.get("rank_from"))


def apply(correction, trace, out, progress=None, **options):
    """Sends another trace of the same run through a saved correction, to ``out``; opens it.

    The options are those of ``retime apply``; with ``offsets`` the correction is ``None``.
    """
    given = [trace] if correction is None else [correction, trace]
    ask("apply", given, {**options, "output": path_of(out)}, progress)
    return open(out, options.get("format"), rank_from=options.get("rank_from"))


def merge(runs, out, progress=None, **options):
    """Puts the profiles of a job into one file with one time, ``out``; says in words what it did.

    ``runs`` are the paths of directories or files. The options are those of ``retime merge``;
    the ending of ``out`` says what is written.
    """
    _, outcome, _, _ = ask("merge", _several(runs), {**options, "output": path_of(out)}, progress)
    return outcome


def offsets(runs, progress=None, **options):
    """By how much each clock of some runs was off: what ``--offsets-out`` writes, as a dict.

    The options are those of ``retime merge``; nothing is written.
    """
    with tempfile.TemporaryDirectory() as place:
        told = os.path.join(place, "offsets.json")
        ask("merge", _several(runs), {**options, "offsets_out": told}, progress)
        with builtins.open(told, encoding="utf-8") as file:
            return json.load(file)


def _several(runs):
    """One path, or several, as paths."""
    is_one = isinstance(runs, (str, bytes)) or hasattr(runs, "__fspath__")
    return [runs] if is_one else list(runs)


class Simulated(collections.namedtuple("Simulated", "trace truth outcome")):
    """A simulated trace, the same with true times (``None`` with ``no_truth``), and what
    was written in words."""

    __slots__ = ()


def simulate(scenario, out, progress=None, **options):
    """Writes the trace of a simulated program with clock errors to ``out``, and the truth.

    The options are those of ``retime simulate``.
    """
    told = ask("simulate", [scenario], {**options, "output": path_of(out)}, progress)
    _, outcome, _, written = told
    traces = [open(one) for one in written]
    return Simulated(traces[0], traces[1] if len(traces) > 1 else None, outcome)
