"""Management commands of the whole installation."""

from typing import Final

LOOK_THREADS: Final = 4
"""Of the worker of what people look at: a person waits for each."""
