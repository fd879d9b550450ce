"""Reports as text and as a piece of a page: the story in five numbers, and small pictures."""

import html

# Of a small picture, in pixels.
WIDTH, HEIGHT = 260, 90
# Colours that those who see no red from green tell apart.
RECORDED, CORRECTED = "#d55e00", "#0072b2"


def seconds(value):
    """A time span as people read it."""
    if value is None:
        return "unknown"
    for limit, unit, factor in ((1e-6, "ns", 1e9), (1e-3, "us", 1e6), (1, "ms", 1e3)):
        if abs(value) < limit:
            return f"{value * factor:.3g} {unit}"
    return f"{value:.3g} s"


def numbers(report):
    """What a report says in five numbers: a title, a value and a remark for each."""
    trace = report["trace"]
    tick = 1 / trace["ticks_per_second"]
    before, after = report["before"], report.get("after")
    checked = before["messages"]["total"] + before["collectives"]["total"]
    found = [
        ("events", f"{trace['events']:,}", f"{trace['locations']:,} locations, {seconds(trace['duration_seconds'])}"),
        ("reversed as recorded", f"{before['reversed']:,}", f"of {checked:,} dependencies"),
    ]
    if after is None:
        least = before["smallest_latency_ticks"]
        remark = "recorded" if least is None else f"{seconds(least * tick)} at least"
        found.append(("latency", remark, "from a cause to its effect"))
    else:
        found.append(("reversed as corrected", f"{after['reversed']:,}", f"and {after['short']:,} too short"))
    distortion = report.get("distortion")
    if distortion is not None:
        largest = distortion.get("largest")
        change = "none" if largest is None else f"{100 * largest:.2g} %"
        found.append(("largest change", change, "of a local interval"))
    else:
        found.append(("clocks", f"{report['clocks']['count']:,}", f"of {trace['processes']:,} processes"))
    bounds = report.get("bounds")
    if bounds is None:
        found.append(("error", "unknown", "bounds were not computed"))
    else:
        largest, mean = (None if it is None else it * tick for it in (bounds["largest"], bounds["mean"]))
        found.append(("error at most", seconds(largest), f"{seconds(mean)} in the mean, at events that communicate"))
    return found


def text(report):
    lines = [f"<retime report of {report['trace']['path']}"]
    lines += [f"  {title + ':':<23} {value}, {remark}" for title, value, remark in numbers(report)]
    if report.outcome:
        lines.append(f"  {report.outcome}")
    lines += [f"  warning: {warning}" for warning in report["warnings"]]
    return "\n".join(lines) + ">"


def page(report, pictures=""):
    cells = "".join(
        f'<td style="text-align:left;padding:4px 18px 4px 0"><div style="font-size:80%">{html.escape(title)}</div>'
        f'<div style="font-size:150%">{html.escape(value)}</div>'
        f'<div style="font-size:80%">{html.escape(remark)}</div></td>'
        for title, value, remark in numbers(report)
    )
    warnings = "".join(f"<li>{html.escape(it)}</li>" for it in report["warnings"])
    return (
        f"<div><b>{html.escape(report['trace']['path'])}</b><table><tr>{cells}</tr></table>"
        f"<div>{pictures or advances(report)}</div>"
        f"<p>{html.escape(report.outcome)}</p>" + (f"<ul>{warnings}</ul>" if warnings else "") + "</div>"
    )


def _svg(title, inside):
    return (
        f'<figure style="display:inline-block;margin:4px 16px 4px 0"><svg width="{WIDTH}" height="{HEIGHT}" '
        f'role="img" aria-label="{html.escape(title)}" style="background:#fff">{inside}</svg>'
        f'<figcaption style="font-size:80%">{html.escape(title)}</figcaption></figure>'
    )


def advances(report):
    """How far each clock was moved at its end, as bars."""
    moved = [it.get("final_advance_ticks") for it in report["clocks"]["list"]]
    moved = [it for it in moved if it is not None]
    if report.get("after") is None or not moved:
        return ""
    most = max(1, max(abs(it) for it in moved))
    width = WIDTH / len(moved)
    bars = ""
    for place, ticks in enumerate(moved):
        height = abs(ticks) / most * (HEIGHT / 2 - 4)
        top = HEIGHT / 2 - height if ticks > 0 else HEIGHT / 2
        bars += (
            f'<rect x="{place * width:.1f}" y="{top:.1f}" width="{max(1, width - 1):.1f}" '
            f'height="{height:.1f}" fill="{CORRECTED}"/>'
        )
    tick = 1 / report["trace"]["ticks_per_second"]
    return _svg(f"added to each clock at its end, up to {seconds(most * tick)}", bars)


def latencies(picture):
    """How many messages took how long, as recorded above the line and as corrected below."""
    bins = picture["latencies"]["bins"]
    if not bins:
        return ""
    most = max(max(it["recorded"], it["corrected"]) for it in bins) or 1
    width = WIDTH / len(bins)
    bars = ""
    for place, it in enumerate(bins):
        up, down = ((it[name] / most) * (HEIGHT / 2 - 2) for name in ("recorded", "corrected"))
        common = f'x="{place * width:.1f}" width="{max(0.5, width - 0.3):.1f}"'
        bars += f'<rect {common} y="{HEIGHT / 2 - up:.1f}" height="{up:.1f}" fill="{RECORDED}"/>'
        if picture["corrected"]:
            bars += f'<rect {common} y="{HEIGHT / 2:.1f}" height="{down:.1f}" fill="{CORRECTED}"/>'
    tick = 1 / picture["ticks_per_second"]
    ends = f"{seconds(bins[0]['from'] * tick)} to {seconds(bins[-1]['to'] * tick)}"
    return _svg(f"latencies, {ends}: recorded (up), corrected (down)", bars)


def curves(picture):
    """What was added to each clock over time."""
    lines = [it["points"] for it in picture["clocks"] if it["points"]]
    flat = [point for line in lines for point in line]
    if not picture["corrected"] or not flat:
        return ""
    left, right = min(it[0] for it in flat), max(it[0] for it in flat)
    low, high = min(it[1] for it in flat), max(it[1] for it in flat)
    across = lambda time: (time - left) / max(1, right - left) * WIDTH
    upwards = lambda added: HEIGHT - 3 - (added - low) / max(1, high - low) * (HEIGHT - 6)
    drawn = "".join(
        f'<polyline fill="none" stroke="{CORRECTED}" stroke-opacity="0.6" points="'
        + " ".join(f"{across(time):.1f},{upwards(added):.1f}" for time, added in line)
        + '"/>'
        for line in lines
    )
    tick = 1 / picture["ticks_per_second"]
    return _svg(f"added to each clock, {seconds(low * tick)} to {seconds(high * tick)}", drawn)


def methods_text(comparison):
    lines = [f"<retime comparison of {comparison['trace']['path']}"]
    for name, left, change, reason in _methods(comparison):
        lines.append(f"  {name:<44} {left:>12} {change:>10}  {reason}")
    return "\n".join(lines) + ">"


def methods_page(comparison):
    rows = "".join(
        "<tr>" + "".join(f'<td style="text-align:left">{html.escape(it)}</td>' for it in row) + "</tr>"
        for row in _methods(comparison)
    )
    head = "<tr><th>method</th><th>reversed</th><th>largest change</th><th></th></tr>"
    return f"<div><b>{html.escape(comparison['trace']['path'])}</b><table>{head}{rows}</table></div>"


def _methods(comparison):
    for it in comparison["methods"]:
        found = it.get("result")
        reason = it.get("reason") or it.get("refused") or ""
        if found is None:
            yield it["name"], "", "", reason
        else:
            change = f"{100 * found['interval_change_largest']:.2g} %"
            yield it["name"], f"{found['reversed']:,}", change, reason
