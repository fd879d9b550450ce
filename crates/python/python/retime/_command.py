"""The command ``retime``: what ``pip install retime`` puts into ``bin``."""

import signal
import sys

from . import _retime


def main():
    # The command hears interrupts itself, and ends in an orderly way.
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    code = _retime.command([sys.executable, "-m", "retime"], sys.argv[1:])
    sys.stdout.flush()
    sys.exit(code)


if __name__ == "__main__":
    main()
