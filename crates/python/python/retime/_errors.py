"""What can go wrong. All messages are those of the command ``retime``."""

import errno


class Error(Exception):
    """Something went wrong; ``exit_code`` is what the command would return."""

    def __init__(self, message, exit_code=2):
        super().__init__(message)
        self.message = message
        self.exit_code = exit_code

    def __str__(self):
        return self.message

    def __reduce__(self):
        return type(self), (self.message, self.exit_code)


class OptionError(Error, ValueError):
    """An option is unknown, has a value it cannot have, or has no part in the rest."""


class TraceError(Error):
    """A file cannot be read, or is not what it should be."""


class MissingError(TraceError, FileNotFoundError):
    """There is nothing where a file should be."""

    def __init__(self, message, exit_code=2):
        super().__init__(message, exit_code)
        self.errno = errno.ENOENT


class OutputError(Error, OSError):
    """The output cannot be written, or something is there that must not be replaced."""


class CompleteError(OutputError):
    """The output is complete, but something after that failed."""


class Uncorrectable(Error):
    """The method has no valid solution for the trace."""


class Refused(Uncorrectable):
    """The result would be worse than the recording, or cannot be right.

    ``force=True`` takes it all the same.
    """


class StrictError(Error):
    """Something in the trace does not match, and ``strict=True`` was given."""


class ClosedError(Error, ValueError):
    """The trace was closed."""


class Interrupted(Error, KeyboardInterrupt):
    """A table was interrupted while it was read."""


class DefectError(Error):
    """A defect of retime: please report it."""
