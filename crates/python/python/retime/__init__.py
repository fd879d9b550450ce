"""One global time for traces of parallel programs.

>>> import retime, tempfile, os
>>> place = os.path.join(tempfile.mkdtemp(), "halo")
>>> trace = retime.simulate("halo", place, events=2000, offset="1ms").trace
>>> report = trace.check()
>>> report.trace.locations
4
>>> report.before.reversed > 0
True
>>> corrected = trace.corrected()
>>> corrected.report.after.reversed
0

``trace.events()``, ``messages()``, ``collectives()``, ``clocks()``, ``intervals()`` and
``unused()`` are tables for whatever knows Arrow: ``trace.events().to_pandas()``.
"""

from ._errors import (
    ClosedError,
    CompleteError,
    DefectError,
    Error,
    Interrupted,
    MissingError,
    OptionError,
    OutputError,
    Refused,
    StrictError,
    TraceError,
    Uncorrectable,
)
from ._library import Alignment, Event, Filter, PiggybackClock, align
from ._report import Comparison, Part, Report
from ._retime import __version__
from ._tables import Table
from ._trace import (
    Corrected,
    Location,
    Simulated,
    Trace,
    apply,
    merge,
    offsets,
    open,
    simulate,
    undo,
)

__all__ = [
    "Alignment",
    "ClosedError",
    "Comparison",
    "CompleteError",
    "Corrected",
    "DefectError",
    "Error",
    "Event",
    "Filter",
    "Interrupted",
    "Location",
    "MissingError",
    "OptionError",
    "OutputError",
    "Part",
    "PiggybackClock",
    "Refused",
    "Report",
    "Simulated",
    "StrictError",
    "Table",
    "Trace",
    "TraceError",
    "Uncorrectable",
    "__version__",
    "align",
    "apply",
    "merge",
    "offsets",
    "open",
    "simulate",
    "undo",
]
