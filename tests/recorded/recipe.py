"""How a table is made: its statements, in order."""

import shutil
from dataclasses import dataclass
from pathlib import Path
from typing import Final

CHECKPOINT: Final = "CHECKPOINT"
"""Write a checkpoint of the newest version."""
AGE: Final = "AGE"
"""Let all that is in the log have been written ten days ago."""


@dataclass(frozen=True)
class Recipe:
    """What makes a table.

    Attributes:
        what: What the table shows, for people.
        steps: SQL, in which `{t}` is the table, or one of the steps above.
        changes: First and last versions of the ranges whose changes are recorded.
        variants: Columns of variants whose texts are recorded, by the row's `id`.
        misread: Why another reader has other rows.
    """

    what: str
    steps: tuple[str, ...]
    changes: tuple[tuple[int, int], ...] = ()
    variants: tuple[str, ...] = ()
    misread: str = ""


def properties(**values: object) -> str:
    """Return table properties as SQL; `__` in a name is a full stop."""
    said = (
        f"'delta.{name.replace('__', '.')}' = '{value}'"
        for name, value in values.items()
    )
    return f"TBLPROPERTIES ({', '.join(said)})"


def keep_commits(folder: Path) -> Path:
    """Copy the commits of a table, before any is cleaned up, to a folder next to it."""
    kept = folder.with_name("commits")
    kept.mkdir(exist_ok=True)
    for path in (folder / "_delta_log").glob("*.json"):
        if path.stem.isdigit():
            shutil.copy(path, kept)
    return kept
