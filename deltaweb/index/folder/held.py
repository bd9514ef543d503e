"""Indexes that stay a while after newer ones have come.

A page of a query begins where the one before has ended, in the order of an index. The
server that has told a reader so marks the index; who removes indexes spares it then.
"""

import time
from pathlib import Path
from typing import Final

HOLD: Final = ".held"
HELD_S: Final = 3900  # an hour, and what clocks of two machines may differ


def hold_index(folder: Path) -> None:
    """Mark an index as one that somebody may ask for within the hour.

    Where that cannot be written, its pages end with the next index.
    """
    try:
        (folder / HOLD).touch()
    except OSError:
        return


def is_held(folder: Path) -> bool:
    """Tell whether an index is to stay for who reads its pages."""
    try:
        marked_at = (folder / HOLD).stat().st_mtime
    except OSError:
        return False
    return time.time() - marked_at < HELD_S
