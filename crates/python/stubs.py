"""Writes the type stubs of the package: options are those that the command has.

    python stubs.py > python/retime/__init__.pyi
"""

from retime import _retime

# What has no place in a call: what is printed, the output, which is an argument of its own,
# and what only a process of its own can do.
LEFT_OUT = {"quiet", "verbose", "output", "max-memory", "help", "version", "features"}
# What writes files has no place where nothing is written.
IN_MEMORY = LEFT_OUT | {"merged", "json", "html", "offsets-out"}
# What says how a file is written, likewise.
NOT_WRITTEN = LEFT_OUT | {"manifest-only", "offsets-out"}
# Words of Python.
RESERVED = {"from"}


def keywords(command, left_out=LEFT_OUT, indent=8):
    lines = []
    for name, value, default, choices, text in _retime.options(command):
        if name in left_out:
            continue
        key = name.replace("-", "_") + ("_" if name in RESERVED else "")
        kind = "bool" if value is None else "Value | None"
        # Formats become more.
        if value is not None and choices and len(choices) <= 4 and name != "format":
            words = ", ".join(f'"{choice}"' for choice in choices)
            kind = f"Literal[{words}] | bool | None" if "off" in choices else f"Literal[{words}] | None"
        lines.append(" " * indent + f"{key}: {kind} = ...,")
    return "\n".join(lines)


TEMPLATE = '''\
# Made by stubs.py of the options that the command has.
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import timedelta
from typing import Any, Generic, Literal, NamedTuple, TypeVar, Union

P = TypeVar("P")
Path = Union[str, bytes, os.PathLike[Any]]
# As it would be typed after an option.
Value = Union[str, float, timedelta, os.PathLike[str], Sequence[str]]
# The order that a collective operation proves.
Class = Literal["all-to-all", "from-root", "to-root", "scan", "none"]
# Hears of a stage, bytes that are done, and bytes of all.
Progress = Union[bool, Callable[[str, int, int], object], None]

__version__: str

class Error(Exception):
    message: str
    exit_code: int
    def __init__(self, message: str, exit_code: int = ...) -> None: ...

class OptionError(Error, ValueError): ...
class TraceError(Error): ...
class MissingError(TraceError, FileNotFoundError): ...
class OutputError(Error, OSError): ...
class CompleteError(OutputError): ...
class Uncorrectable(Error): ...
class Refused(Uncorrectable): ...
class StrictError(Error): ...
class ClosedError(Error, ValueError): ...
class Interrupted(Error, KeyboardInterrupt): ...
class DefectError(Error): ...

class Part(Mapping[str, Any]):
    def __getattr__(self, name: str) -> Any: ...
    def __getitem__(self, name: str) -> Any: ...
    def __iter__(self) -> Iterator[str]: ...
    def __len__(self) -> int: ...
    def to_dict(self) -> dict[str, Any]: ...

class Report(Part):
    outcome: str
    exit_code: int
    output: str | None

class Comparison(Report): ...

class Table:
    @property
    def column_names(self) -> list[str]: ...
    def __arrow_c_stream__(self, requested_schema: object | None = ...) -> object: ...
    def __arrow_c_schema__(self) -> object: ...
    def reader(self) -> Any: ...
    def to_pyarrow(self) -> Any: ...
    def to_pandas(self) -> Any: ...
    def to_polars(self) -> Any: ...
    def to_parquet(self, path: Path, **options: Any) -> None: ...
    def to_pipit(self) -> Any: ...

class Location(NamedTuple):
    id: int
    name: str
    process_number: int
    process: str | None
    node: str | None

class View:
    @property
    def locations(self) -> list[Location]: ...
    @property
    def ticks_per_second(self) -> int: ...
    @property
    def report(self) -> Report: ...
    def events(
        self,
        columns: Sequence[str] | None = ...,
        locations: int | str | Sequence[int | str] | None = ...,
        from_: Value | None = ...,
        to: Value | None = ...,
    ) -> Table: ...
    def messages(self) -> Table: ...
    def collectives(self) -> Table: ...
    def clocks(self) -> Table: ...
    def intervals(self) -> Table: ...
    def explain(self, location: int, event: int, progress: Progress | None = ...) -> Part: ...
    def unused(self, progress: Progress | None = ...) -> Table: ...
    def picture(self, progress: Progress | None = ...) -> dict[str, Any]: ...
    def plot_latencies(self, ax: Any = ...) -> Any: ...
    def plot_clocks(self, ax: Any = ...) -> Any: ...
    def plot_spacetime(
        self,
        from_: Value | None = ...,
        to: Value | None = ...,
        locations: int | str | Sequence[int | str] | None = ...,
        ax: Any = ...,
        most: int = ...,
    ) -> Any: ...

class Trace(View):
    def __init__(
        self,
        path: Path | Sequence[Path],
        format: str | None = ...,
        progress: Progress | None = ...,
        *,
        rank_from: str | None = ...,
    ) -> None: ...
    @property
    def path(self) -> str: ...
    @property
    def format(self) -> str: ...
    @property
    def closed(self) -> bool: ...
    def __fspath__(self) -> str: ...
    def __enter__(self) -> Trace: ...
    def __exit__(self, *_: object) -> None: ...
    def close(self) -> None: ...
    def check(
        self,
        *,
{check}
    ) -> Report: ...
    def correct(
        self,
        out: Path | None = ...,
        *,
{correct}
    ) -> Report: ...
    def corrected(
        self,
        *,
{corrected}
    ) -> Corrected: ...
    def compare(
        self,
        truth: Path | None = ...,
        *,
{compare}
    ) -> Comparison: ...

class Corrected(View):
    def write(
        self,
        out: Path,
        *,
{correct}
    ) -> Report: ...

class Simulated(NamedTuple):
    trace: Trace
    truth: Trace | None
    outcome: str

def open(
    path: Path | Sequence[Path],
    format: str | None = ...,
    progress: Progress | None = ...,
    *,
    rank_from: str | None = ...,
) -> Trace: ...
def undo(
    trace: Path,
    out: Path,
    progress: Progress | None = ...,
    *,
{undo}
) -> Trace: ...
def merge(
    runs: Path | Sequence[Path],
    out: Path,
    progress: Progress | None = ...,
    *,
{merge}
) -> str: ...
def offsets(
    runs: Path | Sequence[Path],
    progress: Progress | None = ...,
    *,
{offsets}
) -> dict[str, Any]: ...
def apply(
    correction: Path | None,
    trace: Path,
    out: Path,
    progress: Progress | None = ...,
    *,
{apply}
) -> Trace: ...
def simulate(
    scenario: str,
    out: Path,
    progress: Progress | None = ...,
    *,
{simulate}
) -> Simulated: ...

class PiggybackClock:
    def __init__(
        self, ticks_per_second: int = ..., min_delay: int = ..., kind: Literal["controlled", "simple"] = ...
    ) -> None: ...
    def local(self, physical: int) -> int: ...
    def now(self, physical: int) -> int: ...
    def send(self, physical: int) -> tuple[int, int]: ...
    def receive(self, physical: int, stamp: tuple[int, int]) -> int: ...
    def enter(self, physical: int, operation: Class, *, root: bool = ...) -> tuple[int, int] | None: ...
    def leave(
        self, physical: int, operation: Class, others: Sequence[tuple[int, int] | None] = ..., *, root: bool = ...
    ) -> int: ...

class Event(Generic[P]):
    location: int
    recorded: int
    time: int
    payload: P

class Filter(Generic[P]):
    def __init__(
        self,
        clocks: Sequence[int],
        *,
{stream}
    ) -> None: ...
    def push(self, location: int, time: int, payload: P | None = ...) -> None: ...
    def send(self, location: int, time: int, message: int | str, payload: P | None = ...) -> None: ...
    def receive(self, location: int, time: int, message: int | str, payload: P | None = ...) -> None: ...
    def begin(
        self, location: int, time: int, operation: int | str, participants: int, payload: P | None = ...
    ) -> None: ...
    def end(
        self, location: int, time: int, operation: int | str, participants: int, payload: P | None = ...
    ) -> None: ...
    def heartbeat(self, location: int, time: int) -> None: ...
    def close(self, location: int) -> None: ...
    def finish(self) -> None: ...
    def __iter__(self) -> Iterator[Event[P | None]]: ...

class ClockStep(NamedTuple):
    clock: int
    after: int
    until: int
    by: float
    alternatives: list[int]

class Alignment:
    relations: list[str]
    shortest: float | None
    outliers: int
    steps: list[ClockStep]
    def knots(self, clock: int) -> list[tuple[int, float]]: ...
    def corrected(self, clock: int, stamps: Any) -> Any: ...

def align(edges: Any, ticks_per_second: int = ..., reference: int = ...) -> Alignment: ...
'''


def stubs():
    return TEMPLATE.format(
        check=keywords("check"),
        correct=keywords("correct"),
        corrected=keywords("correct", IN_MEMORY),
        compare=keywords("compare", LEFT_OUT | {"truth"}),
        undo=keywords("undo", indent=4),
        apply=keywords("apply", indent=4),
        merge=keywords("merge", indent=4),
        offsets=keywords("merge", NOT_WRITTEN, indent=4),
        simulate=keywords("simulate", indent=4),
        stream=keywords("stream", LEFT_OUT | {"skip-bad", "report", "method", "reference", "segment"}),
    )


if __name__ == "__main__":
    print(stubs(), end="")
