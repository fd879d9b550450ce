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
        min_delay: Value | None = ...,
        clocks: Literal["auto", "location", "process", "node"] | None = ...,
        truth: Value | None = ...,
        dense_alltoallv: bool = ...,
        trust_implementation: Literal["openmpi"] | None = ...,
        strict: bool = ...,
        drift_bound: Value | None = ...,
        bounds: Literal["on", "off"] | bool | None = ...,
        bounds_budget: Value | None = ...,
        format: Value | None = ...,
        rank_from: Value | None = ...,
        collectives: Value | None = ...,
        threads: Value | None = ...,
        json: Value | None = ...,
        html: Value | None = ...,
    ) -> Report: ...
    def correct(
        self,
        out: Path | None = ...,
        *,
        merged: bool = ...,
        min_delay: Value | None = ...,
        clocks: Literal["auto", "location", "process", "node"] | None = ...,
        truth: Value | None = ...,
        dense_alltoallv: bool = ...,
        trust_implementation: Literal["openmpi"] | None = ...,
        strict: bool = ...,
        method: Value | None = ...,
        repair: Literal["clc", "off"] | bool | None = ...,
        reference: Value | None = ...,
        offsets: Value | None = ...,
        intervals: Value | None = ...,
        one_way_factor: Value | None = ...,
        pairs: Literal["regression", "convex-hull"] | None = ...,
        always: bool = ...,
        controller: Value | None = ...,
        gamma_max: Value | None = ...,
        amortization: Value | None = ...,
        amortization_method: Literal["gentlest", "printed"] | None = ...,
        start_clock_difference: Value | None = ...,
        backward: bool = ...,
        max_advance: Value | None = ...,
        min_distance: Value | None = ...,
        steps: Literal["communicating", "every"] | None = ...,
        gamma_min: Value | None = ...,
        q_init: Value | None = ...,
        q_min: Value | None = ...,
        q_factor: Value | None = ...,
        gamma_degress: Value | None = ...,
        l_upper: Value | None = ...,
        l_lower: Value | None = ...,
        from_: Value | None = ...,
        to: Value | None = ...,
        drift_bound: Value | None = ...,
        bounds: Literal["on", "off"] | bool | None = ...,
        bounds_budget: Value | None = ...,
        max_rate_difference: Value | None = ...,
        format: Value | None = ...,
        rank_from: Value | None = ...,
        collectives: Value | None = ...,
        offsets_out: Value | None = ...,
        threads: Value | None = ...,
        json: Value | None = ...,
        html: Value | None = ...,
        force: bool = ...,
    ) -> Report: ...
    def corrected(
        self,
        *,
        min_delay: Value | None = ...,
        clocks: Literal["auto", "location", "process", "node"] | None = ...,
        truth: Value | None = ...,
        dense_alltoallv: bool = ...,
        trust_implementation: Literal["openmpi"] | None = ...,
        strict: bool = ...,
        method: Value | None = ...,
        repair: Literal["clc", "off"] | bool | None = ...,
        reference: Value | None = ...,
        offsets: Value | None = ...,
        intervals: Value | None = ...,
        one_way_factor: Value | None = ...,
        pairs: Literal["regression", "convex-hull"] | None = ...,
        always: bool = ...,
        controller: Value | None = ...,
        gamma_max: Value | None = ...,
        amortization: Value | None = ...,
        amortization_method: Literal["gentlest", "printed"] | None = ...,
        start_clock_difference: Value | None = ...,
        backward: bool = ...,
        max_advance: Value | None = ...,
        min_distance: Value | None = ...,
        steps: Literal["communicating", "every"] | None = ...,
        gamma_min: Value | None = ...,
        q_init: Value | None = ...,
        q_min: Value | None = ...,
        q_factor: Value | None = ...,
        gamma_degress: Value | None = ...,
        l_upper: Value | None = ...,
        l_lower: Value | None = ...,
        from_: Value | None = ...,
        to: Value | None = ...,
        drift_bound: Value | None = ...,
        bounds: Literal["on", "off"] | bool | None = ...,
        bounds_budget: Value | None = ...,
        max_rate_difference: Value | None = ...,
        format: Value | None = ...,
        rank_from: Value | None = ...,
        collectives: Value | None = ...,
        threads: Value | None = ...,
        force: bool = ...,
    ) -> Corrected: ...
    def compare(
        self,
        truth: Path | None = ...,
        *,
        method: Value | None = ...,
        min_delay: Value | None = ...,
        clocks: Literal["auto", "location", "process", "node"] | None = ...,
        dense_alltoallv: bool = ...,
        trust_implementation: Literal["openmpi"] | None = ...,
        strict: bool = ...,
        drift_bound: Value | None = ...,
        bounds: Literal["on", "off"] | bool | None = ...,
        bounds_budget: Value | None = ...,
        max_rate_difference: Value | None = ...,
        format: Value | None = ...,
        rank_from: Value | None = ...,
        threads: Value | None = ...,
        json: Value | None = ...,
        html: Value | None = ...,
    ) -> Comparison: ...

class Corrected(View):
    def write(
        self,
        out: Path,
        *,
        merged: bool = ...,
        min_delay: Value | None = ...,
        clocks: Literal["auto", "location", "process", "node"] | None = ...,
        truth: Value | None = ...,
        dense_alltoallv: bool = ...,
        trust_implementation: Literal["openmpi"] | None = ...,
        strict: bool = ...,
        method: Value | None = ...,
        repair: Literal["clc", "off"] | bool | None = ...,
        reference: Value | None = ...,
        offsets: Value | None = ...,
        intervals: Value | None = ...,
        one_way_factor: Value | None = ...,
        pairs: Literal["regression", "convex-hull"] | None = ...,
        always: bool = ...,
        controller: Value | None = ...,
        gamma_max: Value | None = ...,
        amortization: Value | None = ...,
        amortization_method: Literal["gentlest", "printed"] | None = ...,
        start_clock_difference: Value | None = ...,
        backward: bool = ...,
        max_advance: Value | None = ...,
        min_distance: Value | None = ...,
        steps: Literal["communicating", "every"] | None = ...,
        gamma_min: Value | None = ...,
        q_init: Value | None = ...,
        q_min: Value | None = ...,
        q_factor: Value | None = ...,
        gamma_degress: Value | None = ...,
        l_upper: Value | None = ...,
        l_lower: Value | None = ...,
        from_: Value | None = ...,
        to: Value | None = ...,
        drift_bound: Value | None = ...,
        bounds: Literal["on", "off"] | bool | None = ...,
        bounds_budget: Value | None = ...,
        max_rate_difference: Value | None = ...,
        format: Value | None = ...,
        rank_from: Value | None = ...,
        collectives: Value | None = ...,
        offsets_out: Value | None = ...,
        threads: Value | None = ...,
        json: Value | None = ...,
        html: Value | None = ...,
        force: bool = ...,
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
    force: bool = ...,
    format: Value | None = ...,
    rank_from: Value | None = ...,
    threads: Value | None = ...,
) -> Trace: ...
def merge(
    runs: Path | Sequence[Path],
    out: Path,
    progress: Progress | None = ...,
    *,
    force: bool = ...,
    manifest_only: bool = ...,
    offsets_out: Value | None = ...,
    min_delay: Value | None = ...,
    clocks: Literal["auto", "location", "process", "node"] | None = ...,
    truth: Value | None = ...,
    dense_alltoallv: bool = ...,
    trust_implementation: Literal["openmpi"] | None = ...,
    strict: bool = ...,
    method: Value | None = ...,
    repair: Literal["clc", "off"] | bool | None = ...,
    reference: Value | None = ...,
    offsets: Value | None = ...,
    intervals: Value | None = ...,
    one_way_factor: Value | None = ...,
    pairs: Literal["regression", "convex-hull"] | None = ...,
    always: bool = ...,
    controller: Value | None = ...,
    gamma_max: Value | None = ...,
    amortization: Value | None = ...,
    amortization_method: Literal["gentlest", "printed"] | None = ...,
    start_clock_difference: Value | None = ...,
    backward: bool = ...,
    max_advance: Value | None = ...,
    min_distance: Value | None = ...,
    steps: Literal["communicating", "every"] | None = ...,
    gamma_min: Value | None = ...,
    q_init: Value | None = ...,
    q_min: Value | None = ...,
    q_factor: Value | None = ...,
    gamma_degress: Value | None = ...,
    l_upper: Value | None = ...,
    l_lower: Value | None = ...,
    drift_bound: Value | None = ...,
    bounds: Literal["on", "off"] | bool | None = ...,
    bounds_budget: Value | None = ...,
    max_rate_difference: Value | None = ...,
    format: Value | None = ...,
    rank_from: Value | None = ...,
    threads: Value | None = ...,
    json: Value | None = ...,
    html: Value | None = ...,
) -> str: ...
def offsets(
    runs: Path | Sequence[Path],
    progress: Progress | None = ...,
    *,
    force: bool = ...,
    min_delay: Value | None = ...,
    clocks: Literal["auto", "location", "process", "node"] | None = ...,
    truth: Value | None = ...,
    dense_alltoallv: bool = ...,
    trust_implementation: Literal["openmpi"] | None = ...,
    strict: bool = ...,
    method: Value | None = ...,
    repair: Literal["clc", "off"] | bool | None = ...,
    reference: Value | None = ...,
    offsets: Value | None = ...,
    intervals: Value | None = ...,
    one_way_factor: Value | None = ...,
    pairs: Literal["regression", "convex-hull"] | None = ...,
    always: bool = ...,
    controller: Value | None = ...,
    gamma_max: Value | None = ...,
    amortization: Value | None = ...,
    amortization_method: Literal["gentlest", "printed"] | None = ...,
    start_clock_difference: Value | None = ...,
    backward: bool = ...,
    max_advance: Value | None = ...,
    min_distance: Value | None = ...,
    steps: Literal["communicating", "every"] | None = ...,
    gamma_min: Value | None = ...,
    q_init: Value | None = ...,
    q_min: Value | None = ...,
    q_factor: Value | None = ...,
    gamma_degress: Value | None = ...,
    l_upper: Value | None = ...,
    l_lower: Value | None = ...,
    drift_bound: Value | None = ...,
    bounds: Literal["on", "off"] | bool | None = ...,
    bounds_budget: Value | None = ...,
    max_rate_difference: Value | None = ...,
    format: Value | None = ...,
    rank_from: Value | None = ...,
    threads: Value | None = ...,
    json: Value | None = ...,
    html: Value | None = ...,
) -> dict[str, Any]: ...
def apply(
    correction: Path | None,
    trace: Path,
    out: Path,
    progress: Progress | None = ...,
    *,
    offsets: Value | None = ...,
    format: Value | None = ...,
    rank_from: Value | None = ...,
    threads: Value | None = ...,
    force: bool = ...,
) -> Trace: ...
def simulate(
    scenario: str,
    out: Path,
    progress: Progress | None = ...,
    *,
    force: bool = ...,
    truth: Value | None = ...,
    no_truth: bool = ...,
    seed: Value | None = ...,
    ranks: Value | None = ...,
    grid: Value | None = ...,
    events: Value | None = ...,
    iterations: Value | None = ...,
    duration: Value | None = ...,
    compute: Value | None = ...,
    ranks_per_node: Value | None = ...,
    threads: Value | None = ...,
    threads_send: bool = ...,
    open_grid: bool = ...,
    collective: Literal["allreduce", "barrier", "none"] | None = ...,
    every: Value | None = ...,
    min_delay: Value | None = ...,
    delay_excess: Value | None = ...,
    delay_distribution: Literal["constant", "uniform", "exponential", "heavy"] | None = ...,
    uphill: Value | None = ...,
    tail_index: Value | None = ...,
    congestion: Value | None = ...,
    congestion_share: Value | None = ...,
    congestion_lasts: Value | None = ...,
    load: Value | None = ...,
    load_share: Value | None = ...,
    load_lasts: Value | None = ...,
    load_turn: Value | None = ...,
    offset: Value | None = ...,
    drift: Value | None = ...,
    bend: Value | None = ...,
    wander: Value | None = ...,
    wander_period: Value | None = ...,
    walk: Value | None = ...,
    walk_every: Value | None = ...,
    jumps: Value | None = ...,
    jump_size: Value | None = ...,
    glitches: Value | None = ...,
    glitch_size: Value | None = ...,
    ntp: Value | None = ...,
    ntp_noise: Value | None = ...,
    ntp_slew: Value | None = ...,
    ntp_threshold: Value | None = ...,
    backwards: bool = ...,
    tick: Value | None = ...,
    wrong_clock: Value | None = ...,
    clocks: Literal["process", "node"] | None = ...,
    coarse_clocks: bool = ...,
    resolution: Value | None = ...,
    epoch: Value | None = ...,
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
        min_delay: Value | None = ...,
        max_clock_difference: Value | None = ...,
        start_clock_difference: Value | None = ...,
        transfer_delay: Value | None = ...,
        merged: bool = ...,
        ticks_per_second: Value | None = ...,
        controller: Value | None = ...,
        gamma_max: Value | None = ...,
        gamma_min: Value | None = ...,
        q_init: Value | None = ...,
        q_min: Value | None = ...,
        q_factor: Value | None = ...,
        gamma_degress: Value | None = ...,
        l_upper: Value | None = ...,
        l_lower: Value | None = ...,
        amortization: Value | None = ...,
        delay: Value | None = ...,
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
