"""Prints the trace of very many locations that exchange messages, as JSON lines.

    python3 benches/locations.py SHAPE LOCATIONS

Clocks are off by up to 100 us and run up to 2 ppm too fast or too slow; each of five iterations
takes 200 us and ends with a message to every neighbour of the shape.
"""

import math
import random
import sys

ITERATIONS = 5


def drawn(count, partners):
    """Who exchanges messages with whom where each draws half of so many partners."""
    chance = random.Random(2)
    found = [set() for _ in range(count)]
    for at in range(count):
        others = chance.sample(range(count), min(count, partners // 2 + 1))
        for other in [it for it in others if it != at][: partners // 2]:
            found[at].add(other)
            found[other].add(at)
    return [sorted(it) for it in found]


def neighbours(shape, count):
    width = math.isqrt(count)
    if shape in ("random", "dense"):
        yield from drawn(count, 6 if shape == "random" else count // 2)
        return
    for at in range(count):
        if shape == "ring":
            found = [(at + 1) % count]
        elif shape == "chain":
            found = [at - 1, at + 1]
        elif shape == "tree":
            found = [(at - 1) // 2 if at else -1, 2 * at + 1, 2 * at + 2]
        elif shape == "star":
            found = [0] if at else list(range(1, count))
        elif shape == "halo":
            beside = [at - 1] if at % width else []
            beside += [at + 1] if (at + 1) % width else []
            found = [at - width, at + width, *beside]
        elif shape == "hubs":
            hubs = min(10, count)
            others = [it for it in range(hubs) if it != at]
            found = [*others, *range(hubs + at, count, hubs)] if at < hubs else [(at - hubs) % hubs]
        else:
            sys.exit(f"no shape {shape}: ring, chain, tree, star, halo, hubs, random or dense")
        yield [it for it in found if 0 <= it < count]


def events(shape, count, chance):
    peers = list(neighbours(shape, count))
    now = [chance.uniform(0, 1_000) for _ in range(count)]
    found = [[] for _ in range(count)]
    message = 0
    for _ in range(ITERATIONS):
        arriving = [[] for _ in range(count)]
        for at in range(count):
            now[at] += 200_000 + chance.uniform(0, 2_000)
            for peer in peers[at]:
                now[at] += 300
                found[at].append((now[at], "send", message))
                arriving[peer].append((now[at] + chance.uniform(1_500, 4_500), message))
                message += 1
        for at in range(count):
            for arrives, name in sorted(arriving[at]):
                now[at] = max(now[at] + 200, arrives)
                found[at].append((now[at], "receive", name))
    return found


def main(shape, count):
    chance = random.Random(1)
    for at, own in enumerate(events(shape, count, chance)):
        ahead, faster = (chance.uniform(-1e5, 1e5), chance.uniform(-2e-6, 2e-6)) if at else (0, 0)
        for time, kind, message in own:
            shown = int(time * (1 + faster) + ahead) + 200_000
            print(f'{{"location":{at},"time":{shown},"type":"{kind}","message":"{message}"}}')


main(sys.argv[1], int(sys.argv[2]))
