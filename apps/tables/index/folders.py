"""Where the indexes of tables are: a folder an index, below one a table."""

import shutil
import time
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Final

from django.conf import settings

from apps.tables.models import Table
from deltaweb.index.folder.held import is_held

# Part of a folder's name; a new one makes the next index read the whole log, and
# replace the stored rows that the log still has.
INDEX_FORMAT: Final = "1"
RUNS_FOLDER: Final = ".runs"  # small files of Spark jobs that are running
ABANDONED_AFTER_S: Final = 6 * 3600  # a half-written folder that old has no writer


@dataclass(frozen=True, slots=True, kw_only=True)
class LogIndexed:
    """What an index of a log ended with.

    Attributes:
        version: The newest version; None of a log without any.
        state: A state of `IndexResult`.
    """

    version: int | None
    state: str


def indexes_folder() -> Path:
    """The folder of all indexes."""
    return Path(settings.HOME) / "index"


def index_folders(table_id: object) -> Path:
    """The folder of a table's indexes."""
    return indexes_folder() / str(table_id)


def index_folder(table: Table) -> Path | None:
    """The folder of a table's newest index; None where it has none."""
    return index_folders(table.id) / table.index_name if table.index_name else None


def new_index_folder(table_id: object, *, now: datetime, mark: str) -> Path:
    """Name the folder of a table's next index; nothing is made yet.

    Args:
        mark: Distinguishes two indexes of one moment.
    """
    stamp = int(now.timestamp() * 1000)
    return index_folders(table_id) / f"{INDEX_FORMAT}-{stamp}-{mark[:8]}"


def is_of_this_format(index_name: str) -> bool:
    """Whether the folder of an index is one that can be updated."""
    return index_name.startswith(f"{INDEX_FORMAT}-")


def begun_at_ms(index_name: str) -> int | None:
    """When the work on an index began, by its folder's name; None if unknown."""
    _, _, rest = index_name.partition("-")
    stamp, _, _ = rest.partition("-")
    return int(stamp) if stamp.isascii() and stamp.isdigit() else None


def present_index(table: Table) -> Path | None:
    """The folder of a table's index that the next one may update."""
    folder = index_folder(table)
    if folder is None or not is_of_this_format(folder.name):
        return None
    return folder if folder.is_dir() else None


def remove_other_indexes(table_id: object, *, keep: str) -> None:
    """Remove a table's index folders but one; readers keep what they have mapped.

    What another worker is writing stays, and so does what was begun later: that
    worker is about to store it. And one that a recipient is in the middle of stays for
    an hour.
    """
    folder = index_folders(table_id)
    for place in folder.iterdir() if folder.is_dir() else ():
        if place.name == keep or is_held(place):
            continue
        is_awaited = place.name.startswith(".") or _is_begun_later(place.name, keep)
        if is_awaited and not _is_abandoned(place):
            continue
        shutil.rmtree(place, ignore_errors=True)


def remove_orphaned_indexes() -> int:
    """Remove the indexes of removed tables, and what killed Spark jobs left."""
    folder = indexes_folder()
    if not folder.is_dir():
        return 0
    known = {str(table_id) for table_id in Table.objects.values_list("id", flat=True)}
    orphans = [
        place
        for place in (*folder.iterdir(), *folder.glob(f"{RUNS_FOLDER}/*"))
        if place.name not in {*known, RUNS_FOLDER} and _is_abandoned(place)
    ]
    for place in orphans:
        shutil.rmtree(place, ignore_errors=True)
    return len(orphans)


def _is_begun_later(index_name: str, keep: str) -> bool:
    """Whether an index was begun after another one, by a clock that was right."""
    begun_ms, kept_ms = begun_at_ms(index_name), begun_at_ms(keep)
    if begun_ms is None or kept_ms is None:
        return False
    return kept_ms <= begun_ms <= time.time() * 1000


def _is_abandoned(place: Path) -> bool:
    try:
        return time.time() - place.stat().st_mtime > ABANDONED_AFTER_S
    except FileNotFoundError:
        return False
