"""Plots by matplotlib."""

import warnings

from . import _spacetime as spacetime
from ._html import CORRECTED, RECORDED

# Calls, and messages, that a space-time diagram shows at most: far more than there are pixels.
MOST = 200_000


def _axes(ax):
    try:
        from matplotlib import pyplot
    except ImportError as error:
        raise ImportError("plots take matplotlib: pip install matplotlib") from error
    return ax if ax is not None else pyplot.subplots(layout="constrained")[1]


class Plots:
    """What can be drawn of a view."""

    def plot_latencies(self, ax=None):
        """How many messages took how long, as recorded and as corrected; below 0 are those
        that arrive before they were sent. Returns the axes."""
        ax = _axes(ax)
        picture = self.picture()
        tick = 1 / picture["ticks_per_second"]
        bins = picture["latencies"]["bins"]
        edges = [it["from"] * tick for it in bins] + [it["to"] * tick for it in bins[-1:]]
        shown = [("recorded", RECORDED)]
        if picture["corrected"]:
            shown.append(("corrected", CORRECTED))
        for name, colour in shown:
            counts = [it[name] for it in bins]
            # A bin that is left out between two others is empty.
            points = [(edge, 0) for edge in edges[:1]]
            for it, count in zip(bins, counts):
                begin, end = it["from"] * tick, it["to"] * tick
                if points and points[-1][0] < begin:
                    points += [(points[-1][0], 0), (begin, 0)]
                points += [(begin, count), (end, count)]
            points += [(edge, 0) for edge in edges[-1:]]
            across, upwards = zip(*points) if points else ((), ())
            ax.plot(across, upwards, color=colour, label=name)
        small = [abs(it) for it in edges if it]
        ax.set_xscale("symlog", linthresh=min(small, default=1e-9))
        ax.set_xlabel("latency in s")
        ax.set_ylabel(picture["latencies"]["what"])
        ax.legend()
        return ax

    def plot_clocks(self, ax=None):
        """What was added to each clock over time, and within which bounds the truth lies.
        Returns the axes."""
        ax = _axes(ax)
        picture = self.picture()
        tick = 1 / picture["ticks_per_second"]
        for curve in picture["clocks"]:
            times = [it[0] * tick for it in curve["points"]]
            added = [it[1] * tick for it in curve["points"]]
            (line,) = ax.plot(times, added, label=curve["name"])
            band = [it for it in curve["band"] if it[1] is not None and it[2] is not None]
            at = [it[0] * tick for it in band]
            middle = [_at(times, added, it) for it in at]
            low = [one - it[1] * tick for one, it in zip(middle, band)]
            high = [one + it[2] * tick for one, it in zip(middle, band)]
            ax.fill_between(at, low, high, color=line.get_color(), alpha=0.2, linewidth=0)
        ax.set_xlabel("recorded time in s")
        ax.set_ylabel("added in s")
        if len(picture["clocks"]) <= 12:
            ax.legend(fontsize="small")
        return ax

    def plot_spacetime(self, from_=None, to=None, locations=None, ax=None, most=MOST):
        """Calls and messages of a stretch of time, a row for each location. Takes pyarrow.
        Returns the axes.

        Of more than ``most`` calls the longest are drawn, of more messages those that are
        reversed, and then the longest; the title of the axes and a warning say so.
        """
        ax = _axes(ax)
        time = "corrected" if self._is_corrected else "time"
        if locations is None:
            places = range(len(self.locations))
        else:
            places = self._places(locations)
        known = self.locations
        shown = sorted((known[place] for place in places), key=lambda it: it.id)
        rows = spacetime.Rows([place.id for place in shown])
        stretch = spacetime.Stretch(
            *self._window(from_, to), from_ is not None, to is not None, self._study().base, self.ticks_per_second
        )
        columns = ["location", time, "region", "passage"]
        events = self.events(columns, locations, from_, to).to_pyarrow()
        calls = spacetime.calls(events, time, rows, stretch)
        messages = spacetime.messages(self.messages(), time, rows, stretch)
        drawn = [spacetime.draw_calls(ax, calls, most), spacetime.draw_messages(ax, messages, most)]
        left_out = "; ".join(it for it in drawn if it)
        if left_out:
            ax.set_title(left_out, fontsize="small")
            warnings.warn(f"{left_out}: show less by from_, to or locations, or give most", stacklevel=2)
        ax.set_xlim(*stretch.ends(events[time]))
        ax.set_ylim(len(shown) - 0.5, -0.5)
        ax.set_yticks(range(len(shown)), [it.process or it.name for it in shown], fontsize="small")
        ax.set_xlabel("time in s")
        return ax


def _at(times, values, time):
    """The value at a time, on the line between the points around it."""
    for (left, low), (right, high) in zip(zip(times, values), zip(times[1:], values[1:])):
        if left <= time <= right:
            return low if left == right else low + (high - low) * (time - left) / (right - left)
    return values[0] if times and time < times[0] else values[-1]
