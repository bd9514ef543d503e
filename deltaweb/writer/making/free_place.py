"""A place where a table may be made: nothing is there that is somebody's.

A write that makes a table and is killed leaves data files without a log. They are known
again: by their names, and by what their footers say of the table that never was. They
stay where they are, for their writer may yet be alive; a vacuum of the new table takes
them when they are old.
"""

import re
from typing import Final
from urllib.parse import quote

from deltaweb.delta.errors import DataFileError
from deltaweb.delta.log.store import TableStore
from deltaweb.delta.scan.data_file import DataFile
from deltaweb.delta.writing.errors import InsideTableError, LocationTakenError
from deltaweb.writer.files.parquet_file import FIRST_OF

MAX_LEFTOVERS: Final = 1_000
"""Files whose footers are read before a place is called taken."""
HINT: Final = (
    "Choose an empty place, or 'convert' the folder if its files should become the "
    "table."
)
_UUID: Final = r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}"
_DATA: Final = rf"part-[0-9]{{5}}-{_UUID}\.c000(?:\.[a-z0-9]+)?\.parquet"
_OURS: Final = re.compile(_DATA, re.ASCII)
_UNFINISHED: Final = re.compile(rf"\.{_DATA}\.\w{{8}}\.tmp", re.ASCII)
_UNFINISHED_LOG: Final = re.compile(r"\.[0-9]{20}\.json\.\w{8}\.tmp", re.ASCII)


def check_empty(store: TableStore) -> None:
    """Refuse a place where anything is but what killed writers of tables have left."""
    check_outside(store)
    log = store.list_names_from("")
    if not all(_UNFINISHED_LOG.fullmatch(name) for name in log):
        raise LocationTakenError(location=store.root)
    num_left = 0
    for places in store.list_data_files():
        for place in places.to_pylist():
            num_left += 1
            if num_left > MAX_LEFTOVERS:
                reason = f"more than {MAX_LEFTOVERS:,} files are there, but no table"
                raise _taken(store, reason)
            if not _is_left(store, place):
                raise _taken(store, f"there are files, but no table, such as {place}")


def check_outside(store: TableStore) -> None:
    """Refuse a place in the folder of another table."""
    outer = store.table_above()
    if outer is not None:
        raise InsideTableError(location=store.root, outer=outer)


def _taken(store: TableStore, reason: str) -> LocationTakenError:
    return LocationTakenError(location=store.root, reason=reason, hint=HINT)


def _is_left(store: TableStore, place: str) -> bool:
    """Tell whether a killed writer of a table that was never made has left a file."""
    name = place.rpartition("/")[2]
    if _UNFINISHED.fullmatch(name):
        return True
    if not _OURS.fullmatch(name):
        return False
    try:
        with DataFile(quote(place), store.open_data_file) as file:
            return FIRST_OF.encode() in (file.metadata.metadata or {})
    except DataFileError:
        return False
