"""The table of cases.txt."""

from dataclasses import dataclass

HALVES = ("fit", "held-out")


class TableError(Exception):
    """What is wrong with the table."""


@dataclass
class Case:
    """A row: one run of one program."""

    name: str
    half: str
    program: str
    ranks: int
    arguments: str
    place: str
    load: str
    clocks: str

    @property
    def places(self):
        return set(self.place.split(","))

    @property
    def needs_root(self):
        """Namespaces of host names and of times are not for everybody."""
        return "hosts" in self.places or "namespaces" in self.clocks.split(",")


def read(path):
    """All rows, once their halves are sure to take turns."""
    rows = [line.split() for line in path.read_text().splitlines() if line and line[0] != "#"]
    try:
        cases = [Case(*row[:3], int(row[3]), *row[4:]) for row in rows]
    except (IndexError, TypeError, ValueError) as error:
        raise TableError(f"{path}: {error}") from error
    measured = [case for case in cases if case.half != "bundled"]
    for place, case in enumerate(measured):
        turn = HALVES[place % 2]
        if case.half != turn:
            raise TableError(f"{path}: {case.name} must be {turn}: the halves take turns")
    return cases
