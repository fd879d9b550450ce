"""Keyword arguments as the words of a command line."""

import datetime
import functools
import numbers
import os

from . import _retime


@functools.lru_cache(maxsize=None)
def options(command):
    """The options of a command by name, each with what its value is called, if it has one."""
    return {name: value for name, value, *_ in _retime.options(command)}


def words(command, positional, given):
    """The command line for keyword arguments; ``from_`` stands for ``--from``."""
    known = options(command)
    line = [command]
    for key, value in given.items():
        name = key.rstrip("_").replace("_", "-")
        if value is None:
            continue
        if known.get(name, "") is None:
            if not isinstance(value, bool):
                raise TypeError(f"{key} is a switch: give True or False, not {value!r}")
            line.extend([f"--{name}"] if value else [])
        elif isinstance(value, (list, tuple, set, frozenset)):
            line.extend(f"--{name}={text(key, one)}" for one in value)
        else:
            line.append(f"--{name}={text(key, value)}")
    return [*line, "--", *(path(one) for one in positional)]


def text(key, value):
    """A value as it would be typed."""
    if isinstance(value, bool):
        return "on" if value else "off"
    if isinstance(value, str):
        return value
    if isinstance(value, (os.PathLike, bytes)):
        return os.fsdecode(value)
    if isinstance(value, datetime.timedelta):
        return f"{value // datetime.timedelta(microseconds=1)}us"
    if isinstance(value, numbers.Integral):
        return str(int(value))
    if isinstance(value, numbers.Real):
        number = float(value)
        return str(int(number)) if number.is_integer() else repr(number)
    raise TypeError(
        f"{key}: give it as you would type it, a text or a number, not {type(value).__name__}"
    )


def path(value):
    """A path, or the path of a trace."""
    value = getattr(value, "__fspath__", lambda: value)()
    if isinstance(value, (str, bytes)):
        return os.fsdecode(value)
    raise TypeError(f"give a path as a text or a pathlib.Path, not {type(value).__name__}")
