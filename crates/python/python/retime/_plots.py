"""Plots by matplotlib."""

from ._html import CORRECTED, RECORDED


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

    def plot_spacetime(self, from_=None, to=None, locations=None, ax=None):
        """Calls and messages of a stretch of time, a row for each location. Takes pyarrow.
        Returns the axes."""
        ax = _axes(ax)
        time = "corrected" if self._is_corrected else "time"
        chosen = self.events(["location", time, "region", "passage"], locations, from_, to)
        events = chosen.to_pyarrow()
        base, tick = self._study().base, 1 / self.ticks_per_second
        if locations is None:
            ids = sorted(events["location"].unique().to_pylist())
        else:
            known = self.locations
            ids = [known[place].id for place in self._places(locations)]
        names = {place.id: place.process or place.name for place in self.locations}
        rows = {location: row for row, location in enumerate(ids)}
        calls = _calls(events, time, rows, base, tick)
        _draw_calls(ax, calls)
        begin, end = self._window(from_, to)
        stamps = events[time].to_pylist()
        begin, end = max(begin, min(stamps, default=0)), min(end, max(stamps, default=0))
        kind = "corrected" if self._is_corrected else "time"
        for sender, sent, receiver, received in _messages(self, kind):
            if sender in rows and receiver in rows and sent <= end and received >= begin:
                ax.plot(
                    [(sent - base) * tick, (received - base) * tick],
                    [rows[sender], rows[receiver]],
                    color="black" if received >= sent else RECORDED,
                    linewidth=0.6,
                )
        ax.set_xlim((begin - base) * tick, (end - base) * tick)
        ax.set_yticks(range(len(ids)), [names[it] for it in ids], fontsize="small")
        ax.invert_yaxis()
        ax.set_xlabel("time in s")
        return ax


def _at(times, values, time):
    """The value at a time, on the line between the points around it."""
    for (left, low), (right, high) in zip(zip(times, values), zip(times[1:], values[1:])):
        if left <= time <= right:
            return low if left == right else low + (high - low) * (time - left) / (right - left)
    return values[0] if times and time < times[0] else values[-1]


def _calls(events, time, rows, base, tick):
    """Calls as (region, depth, row, begin, length)."""
    calls, stacks = [], {}
    columns = (events[name].to_pylist() for name in ("location", time, "region", "passage"))
    last = {}
    for location, stamp, region, passage in zip(*columns):
        moment = (stamp - base) * tick
        last[location] = moment
        stack = stacks.setdefault(location, [])
        if passage == "enter":
            stack.append((region, moment))
        elif passage == "leave" and stack:
            name, begin = stack.pop()
            calls.append((name, len(stack), rows[location], begin, moment - begin))
    for location, stack in stacks.items():
        # What is not left in the stretch goes on to its end.
        for depth, (name, begin) in enumerate(stack):
            calls.append((name, depth, rows[location], begin, last[location] - begin))
    return calls


def _draw_calls(ax, calls):
    from matplotlib import pyplot

    regions = sorted({it[0] for it in calls if it[0] is not None})
    colours = pyplot.get_cmap("tab20")
    numbers = {name: number for number, name in enumerate(regions)}
    for name, depth, row, begin, length in sorted(calls, key=lambda it: it[1]):
        height = 0.8 * 0.8**depth
        ax.broken_barh(
            [(begin, length)],
            (row - height / 2, height),
            facecolor=colours(numbers.get(name, 0) % 20),
            label=name if numbers.get(name, 20) < 20 else None,
        )
    handles = dict(zip(*reversed(ax.get_legend_handles_labels())))
    if handles:
        ax.legend(handles.values(), handles.keys(), fontsize="x-small", loc="upper right")


def _messages(view, kind):
    names = ["send_location", f"send_{kind}", "receive_location", f"receive_{kind}"]
    for batch in view.messages().reader():
        yield from zip(*(batch.column(name).to_pylist() for name in names))
