"""The management commands of the whole installation."""

from typing import Final

LOOK_THREADS: Final = 4
"""Of the worker of what people look at: a person waits for each."""

UNLISTED: Final = frozenset(
    {
        *("--version", "--verbosity", "--settings", "--pythonpath", "--traceback"),
        *("--no-color", "--force-color", "--skip-checks"),
    }
)
"""What Django adds to every command: it is taken, and no help lists it."""
