"""Files that appear whole or not at all."""

import errno
import os
import shutil
import uuid


def is_place(path):
    """Whether a whole file can be put there: not where bytes go as they come."""
    if not isinstance(path, (str, bytes, os.PathLike)):
        return False
    path = os.fsdecode(path)
    return "://" not in path and (os.path.isfile(path) or not os.path.exists(path))


def whole(path, write):
    """Lets ``write`` fill a file beside ``path`` that takes its place when it is complete.

    Whatever ends that early leaves what is at ``path`` as it was. A link stays one.
    """
    target = os.path.realpath(os.fsdecode(path))
    directory = os.path.dirname(target)
    if not os.path.isdir(directory):
        raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), os.fsdecode(path))
    # No part of the name, which may be as long as names can be.
    beside = os.path.join(directory, f".retime-{uuid.uuid4().hex}.partial")
    try:
        write(beside)
        if os.path.exists(target):
            shutil.copymode(target, beside)
        _sync(beside)
        os.replace(beside, target)
    finally:
        _remove(beside)


def _sync(path):
    file = os.open(path, os.O_RDONLY)
    try:
        os.fsync(file)
    finally:
        os.close(file)


def _remove(path):
    """Removes a file if it is there, also if an interrupt is heard meanwhile."""
    try:
        os.unlink(path)
    except FileNotFoundError:
        pass
    except KeyboardInterrupt:
        _remove(path)
        raise
