"""What else the machine does while a program is recorded.

    idle          nothing of ours, and a while is waited for others to leave the cores
    bursts        each core is wanted by another program now and then, for 20 ms to 2 s
    correlated    the same at the same time on all cores, for 0.3 to 3 s
    alternate     always one core is taken; after 1 to 4 s it is the next one's turn
    slow:R        rank R has a lower priority, and its core is always taken
"""

import multiprocessing
import os
import random
import resource
import time

# An idle machine is one where others use less than this share of the cores for a second.
QUIET = 0.1


def cores():
    return sorted(os.sched_getaffinity(0))


def _burn(seconds):
    until = time.monotonic() + seconds
    while time.monotonic() < until:
        pass


def _on_and_off(core, seed, lengths, pauses):
    os.sched_setaffinity(0, {core})
    source = random.Random(seed)
    while True:
        time.sleep(source.uniform(*pauses))
        low, high = lengths
        _burn(low * (high / low) ** source.random())


def _always(core):
    os.sched_setaffinity(0, {core})
    while True:
        _burn(1)


def _in_turn(order, seed):
    source = random.Random(seed)
    while True:
        for core in order:
            os.sched_setaffinity(0, {core})
            _burn(source.uniform(1, 4))


def _busy_seconds():
    """What all programs have used of all cores since the machine started."""
    with open("/proc/stat", encoding="ascii") as file:
        user, nice, system, _, _, irq, softirq, *_ = map(int, file.readline().split()[1:])
    return (user + nice + system + irq + softirq) / os.sysconf("SC_CLK_TCK")


def _own_seconds():
    """What this program and those it ran have used; of those that have ended."""
    used = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(each.ru_utime + each.ru_stime for each in used)


class Others:
    """The share of the cores that programs other than our own use during a block."""

    def __enter__(self):
        self._began = time.monotonic(), _busy_seconds(), _own_seconds()
        return self

    def __exit__(self, *_):
        began, busy, own = self._began
        theirs = (_busy_seconds() - busy) - (_own_seconds() - own)
        self.share = max(0.0, theirs / ((time.monotonic() - began) * len(cores())))


def wait_until_quiet(patience):
    """Waits at most so many seconds for others to leave the cores."""
    until = time.monotonic() + patience
    while time.monotonic() < until:
        with Others() as others:
            time.sleep(1)
        if others.share < QUIET:
            return


def _programs(name, seed):
    kind, _, rank = name.partition(":")
    if kind == "idle":
        return []
    if kind == "bursts":
        lengths, pauses = (0.02, 2.0), (0.05, 2.0)
        return [(_on_and_off, (core, f"{seed} {core}", lengths, pauses)) for core in cores()]
    if kind == "correlated":
        # One seed: all cores are taken and let go together.
        lengths, pauses = (0.3, 3.0), (0.3, 3.0)
        return [(_on_and_off, (core, f"{seed}", lengths, pauses)) for core in cores()]
    if kind == "alternate":
        return [(_in_turn, (cores(), f"{seed}"))]
    if kind == "slow":
        return [(_always, (cores()[int(rank) % len(cores())],))]
    raise ValueError(f"{name}: not a load")


class Load:
    """Runs a load for as long as its block."""

    def __init__(self, name, seed):
        self._processes = [
            multiprocessing.Process(target=target, args=arguments, daemon=True)
            for target, arguments in _programs(name, seed)
        ]

    def __enter__(self):
        for process in self._processes:
            process.start()
        return self

    def __exit__(self, *_):
        for process in self._processes:
            process.terminate()
            process.join()


def launch_options(name):
    """What `launch` must know of a load."""
    kind, _, rank = name.partition(":")
    return ["--nice", rank] if kind == "slow" else []
