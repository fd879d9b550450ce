"""Which clock errors messages can show at all.

A step shows where the clock exchanges something with another one both ways before it and after
it, and if it is larger than what the fastest messages there leave open:

    step > (least latency there + least latency back) / 2

at true times, over the last NEAREST dependencies between the two before the step, and over as many
after it.
"""

import json
import subprocess
import sys
from collections import defaultdict, deque

# So many dependencies between two clocks on either side of a step tell what it can be seen by.
NEAREST = 50


def _waits_for(begin, end):
    """Whether the end of a call by one rank needs that another one has begun it."""
    kind = begin["class"]
    if kind == "from-root":
        return begin.get("root", False)
    if kind == "to-root":
        return end.get("root", False)
    return kind == "all-to-all"


def dependencies(retime, truth, owner):
    """By pair of clocks the dependencies of a trace: (sent, received, from the first clock?).

    `owner` gives the clock of each location.
    """
    command = [retime, "order", truth, "--format", "jsonl", "--quiet"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if not done.stdout:
        sys.exit(f"{truth}: {done.stderr.strip()}")
    sent, calls, found = {}, defaultdict(lambda: ([], [])), defaultdict(list)

    def add(cause, effect):
        here, there = owner[cause["location"]], owner[effect["location"]]
        if here != there:
            pair = (min(here, there), max(here, there))
            found[pair].append((cause["time"], effect["time"], here < there))

    for line in done.stdout.splitlines():
        if '"internal"' in line:
            continue
        event = json.loads(line)
        kind = event.get("type")
        if kind == "send":
            sent[event["message"]] = event
        elif kind == "receive" and event["message"] in sent:
            add(sent.pop(event["message"]), event)
        elif kind in ("collective-begin", "collective-end"):
            calls[event["collective"]][kind == "collective-end"].append(event)
    for begins, ends in calls.values():
        for end in ends:
            for begin in begins:
                if begin["location"] != end["location"] and _waits_for(begin, end):
                    add(begin, end)
    return found


def _half_round_trip(messages):
    """Of some dependencies between two clocks; nothing if they all go one way."""
    least = {}
    for sent, received, there in messages:
        least[there] = min(least.get(there, received - sent), received - sent)
    return sum(least.values()) / 2 if len(least) == 2 else None


def smallest_step(found, clock, moment):
    """The smallest step of a clock at a moment that a pair of it can show, in ticks.

    Nothing where no pair of it exchanges something both ways before and after.
    """
    smallest = None
    for pair, messages in found.items():
        if clock not in pair:
            continue
        is_first = clock == pair[0]
        before, after = [], deque()
        # The end of a dependency at this clock says on which side of the step it is.
        own = sorted((sent if there == is_first else received, (sent, received, there))
                     for sent, received, there in messages)  # fmt: skip
        before = [message for at, message in own if at < moment][-NEAREST:]
        after = [message for at, message in own if at >= moment][:NEAREST]
        sides = [_half_round_trip(before), _half_round_trip(after)]
        if None not in sides:
            smallest = min(max(sides), smallest if smallest is not None else max(sides))
    return smallest
