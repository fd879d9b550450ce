"""What is wrong with the clocks of a recording.

A description such as `offset:1ms,drift:20ppm,wander:5us/10s` becomes one error curve per
rank, drawn from the seed of the case: no clock is left true, not even that of rank 0.

    offset:A      a constant within +-A
    drift:R       a constant rate within +-R
    wander:A/P    three swings, together of at most A, of periods between P/2 and 2P
    walk:R        the rate takes a normal step of deviation R every half second
    step:A        half of the clocks, at least one, are set once by +-A/2 to +-A
    one-step:A    one clock is set once by +-A/2 to +-A; of two clocks the second
    slewed:A/R    one clock runs R faster or slower until it has gained or lost A
    kink:R        one clock changes its rate by R and keeps it
    to-and-fro:A  one clock is ahead by A for half of the time, twelve times in turn
    coarse:A      the clock advances in steps of A
    shared:N      N ranks in a row are on one node and read one clock
    one-node      all ranks are declared to be on one node, with clocks of their own
    namespaces    offsets are real ones, of time namespaces; the truth is the counter
"""

import bisect
import math
import random
from dataclasses import dataclass, field

UNITS = {"ns": 1.0, "us": 1e3, "ms": 1e6, "s": 1e9, "ppm": 1.0}
# Seconds between the knots of a curve: a swing of a second is followed to 1 % of it.
SPACING = 0.05
WALK_EVERY = 0.5


def quantity(text):
    """'5us' -> 5000.0 ns, '20ppm' -> 20.0."""
    for unit in ("ppm", "ns", "us", "ms", "s"):
        if text.endswith(unit):
            return float(text[: -len(unit)]) * UNITS[unit]
    raise ValueError(f"{text}: a number with ns, us, ms, s or ppm is wanted")


@dataclass
class Description:
    """A parsed description; lengths in ns, rates in ppm."""

    offset: float = 0.0
    drift: float = 0.0
    wander: tuple = None
    walk: float = 0.0
    step: float = 0.0
    one_step: float = 0.0
    slewed: tuple = None
    kink: float = 0.0
    to_and_fro: float = 0.0
    coarse: float = 0.0
    shared: int = 1
    one_node: bool = False
    namespaces: bool = False

    @classmethod
    def parse(cls, text):
        parsed = cls()
        for part in text.split(","):
            name, _, value = part.partition(":")
            if name in ("one-node", "namespaces"):
                setattr(parsed, name.replace("-", "_"), True)
            elif name == "wander":
                amplitude, period = value.split("/")
                parsed.wander = (quantity(amplitude), quantity(period) * 1e-9)
            elif name == "slewed":
                amount, rate = value.split("/")
                parsed.slewed = (quantity(amount), quantity(rate))
            elif name == "shared":
                parsed.shared = int(value)
            elif name in (
                "offset", "drift", "walk", "step", "one-step", "kink", "to-and-fro", "coarse",
            ):  # fmt: skip
                setattr(parsed, name.replace("-", "_"), quantity(value))
            else:
                raise ValueError(f"{part}: not a clock error")
        return parsed

    def ranks_per_node(self, ranks):
        return ranks if self.one_node else self.shared


@dataclass
class Clock:
    """One error curve: knots of (seconds, ns), and by how many ppm its rate wanders."""

    knots: list = field(default_factory=list)
    wander: float = 0.0
    step: tuple = None  # (seconds, ns) if it is set


def namespace_offsets(description, ranks, seed):
    """Offsets in ns to start ranks with; these are part of no curve."""
    source = random.Random(f"{seed} namespaces")
    return [round(source.uniform(-1, 1) * description.offset) for _ in range(ranks)]


def _swings(description, source):
    amplitude, period = description.wander
    shares = [source.uniform(0.2, 1.0) for _ in range(3)]
    total = sum(shares)
    return [
        (
            amplitude * share / total,
            period * 2 ** source.uniform(-1, 1),
            source.uniform(0, 2 * math.pi),
        )
        for share in shares
    ]


def _walk(times, deviation, source):
    """What a rate adds up to that takes a step now and then; 0 at first."""
    walked, rate, due = [0.0], 0.0, WALK_EVERY
    for before, time in zip(times, times[1:]):
        walked.append(walked[-1] + rate * (time - before) * 1e3)
        if time >= due:
            rate += source.gauss(0, deviation)
            due += WALK_EVERY
    return walked


def _draw(description, seconds, source, is_set):
    offset = 0.0 if description.namespaces else source.uniform(-1, 1) * description.offset
    drift = source.uniform(-1, 1) * description.drift
    swings = _swings(description, source) if description.wander else []
    size = source.choice((-1, 1)) * source.uniform(0.5, 1) * (description.step or description.one_step)
    set_at = source.uniform(0.25, 0.75) * seconds
    spacing = min([SPACING] + [period / 100 for _, period, _ in swings])
    count = max(2, math.ceil(seconds / spacing) + 1)
    times = [seconds * i / (count - 1) for i in range(count)]
    walk = _walk(times, description.walk, source) if description.walk else [0.0] * count
    knots = []
    for time, walked in zip(times, walk):
        swing = sum(a * math.sin(2 * math.pi * time / p + phase) for a, p, phase in swings)
        knots.append((time, offset + drift * time * 1e3 + swing + walked))
    clock = Clock(knots, _largest_deviation(knots))
    if size and is_set:
        clock.knots, clock.step = _with_step(knots, set_at, size), (set_at, size)
    if is_set:
        clock.knots = _disturbed(clock.knots, description, seconds, source)
    return clock


def _disturbed(knots, description, seconds, source):
    """A clock whose rate changes at moments, or that is set all the time."""
    sign, at = source.choice((-1, 1)), source.uniform(0.2, 0.5) * seconds
    if description.slewed:
        amount, ppm = description.slewed
        lasts = min(amount * 1e-3 / ppm, 0.95 * (seconds - at))
        knots = _with_bend(knots, at, sign * ppm)
        knots = _with_bend(knots, at + lasts, -sign * ppm)
    if description.kink:
        knots = _with_bend(knots, at, sign * description.kink)
    for time in range(1, 13 if description.to_and_fro else 0):
        moment = (time + source.uniform(-0.3, 0.3)) * seconds / 13
        knots = _with_step(knots, moment, description.to_and_fro * (1 if time % 2 else -1))
    return knots


def _with_bend(knots, at, ppm):
    """Runs faster by so many ppm from a moment on."""
    place = bisect.bisect([time for time, _ in knots], at)
    (left, below), (right, above) = knots[place - 1], knots[place]
    error = below + (above - below) * (at - left) / (right - left)
    later = [(time, error + ppm * (time - at) * 1e3) for time, error in knots[place:]]
    return knots[:place] + [(at, error)] + later


def _largest_deviation(knots):
    """The largest distance of a stretch's rate from the mean rate, in ppm."""
    (first, at_first), (last, at_last) = knots[0], knots[-1]
    mean = (at_last - at_first) / (last - first)
    rates = ((b[1] - a[1]) / (b[0] - a[0]) for a, b in zip(knots, knots[1:]))
    return max(abs(rate - mean) for rate in rates) * 1e-3


def _with_step(knots, at, size):
    place = bisect.bisect([time for time, _ in knots], at)
    (left, below), (right, above) = knots[place - 1], knots[place]
    before = below + (above - below) * (at - left) / (right - left)
    # A nanosecond, the resolution of the trace, keeps the curve a function.
    step = [(at, before), (at + 1e-9, before + size)]
    return knots[:place] + step + [(time, error + size) for time, error in knots[place:]]


def draw(description, ranks, seconds, seed):
    """One clock per node of ranks that share one, over a run of so many seconds."""
    source = random.Random(f"{seed} clocks")
    nodes = -(-ranks // description.shared)
    # Half of the clocks are set, drawn before anything else of theirs.
    are_set = set(source.sample(range(nodes), max(1, nodes // 2)))
    if description.one_step or description.slewed or description.kink or description.to_and_fro:
        are_set = {source.randrange(nodes) if nodes > 2 else nodes - 1}
    return [_draw(description, seconds, source, node in are_set) for node in range(nodes)]


def write(path, description, ranks, clocks):
    """The file that `convert --errors` reads."""
    with open(path, "w", encoding="ascii") as file:
        for rank in range(ranks):
            if description.coarse:
                file.write(f"{rank} resolution {description.coarse}\n")
            for time, error in clocks[rank // description.shared].knots:
                file.write(f"{rank} {time:.10f} {error:.4f}\n")
