"""How far long work is, by tqdm if that is there."""

import contextlib
import sys
import time

# So long work goes on before a bar is worth the room.
WAIT = 0.5


def hearer(progress):
    """What was given for progress, if it is something that can be."""
    if progress is None or isinstance(progress, bool) or callable(progress):
        return progress
    raise TypeError(f"progress: give a function, True, False or None, not {type(progress).__name__}")


@contextlib.contextmanager
def watching(progress):
    """What hears ``(stage, bytes done, bytes of all)`` some 20 times a second.

    ``None`` is a bar where somebody looks and tqdm is installed, ``True`` one in any case,
    ``False`` nothing; a function is called itself.
    """
    if callable(hearer(progress)):
        yield progress
    elif progress is False or (progress is None and not _is_looked_at()):
        yield None
    else:
        bar = _Bar(progress is True)
        try:
            yield bar
        finally:
            bar.close()


def _is_looked_at():
    return sys.stderr is not None and (sys.stderr.isatty() or "ipykernel" in sys.modules)


class _Bar:
    def __init__(self, is_wanted):
        self._begin = time.monotonic()
        self._bar = None
        self._stage = None
        self._make = _tqdm()
        if is_wanted and self._make is None:
            raise ImportError("progress=True takes tqdm: pip install tqdm")

    def __call__(self, stage, done, everything):
        if self._make is None or not stage or time.monotonic() - self._begin < WAIT:
            return
        if stage != self._stage:
            self.close()
            self._stage = stage
            self._bar = self._make(total=everything, desc=stage, unit="B", unit_scale=True, leave=False)
        self._bar.total = max(everything, done)
        self._bar.update(min(done, self._bar.total) - self._bar.n)

    def close(self):
        if self._bar is not None:
            self._bar.close()
            self._bar = None


def _tqdm():
    try:
        from tqdm.auto import tqdm
    except ImportError:
        return None
    return tqdm
