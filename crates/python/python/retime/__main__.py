"""``python -m retime`` is the command ``retime``."""

from ._command import main

main()
