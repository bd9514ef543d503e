"""What rules leave of files, rewritten: named by keyed hashes, found, and erased.

The name of a file tells nothing of what it was made from, and equal work has one name.
"""

import hmac
import logging
from collections.abc import Iterable, Sequence
from contextlib import suppress
from datetime import datetime, timedelta
from functools import cache
from typing import Final
from uuid import UUID

import pyarrow as pa
import pyarrow.compute as pc
from django.conf import settings

from apps.sharing.models import (
    PreparedChanges,
    PreparedFile,
    SharedTable,
)
from apps.tables.storage.connections import options_for
from deltaweb.delta.errors import DeltaError
from deltaweb.delta.log.commits.times import to_ms
from deltaweb.delta.log.store import TableStore
from deltaweb.index.query.classification import ClassifiedPart
from deltaweb.index.query.restricted_version import PREPARED_SCHEMA
from deltaweb.storage.place import TablePlace
from deltaweb.storage.signing.derived_keys import derive_keys

logger = logging.getLogger(__name__)

PURPOSE: Final = "rewritten files"
USE_INTERVAL: Final = timedelta(hours=6)  # between two notes of a file's use
STRAY_AFTER: Final = timedelta(hours=1)  # since somebody last wrote to it
KEYS_A_STATEMENT: Final = 500


def location_of(shared_id: UUID) -> str:
    """Return where the rewritten files of a shared table lie."""
    return f"{settings.PREPARED_FILES.rstrip('/')}/{shared_id}"


def place_of(shared_id: UUID) -> TablePlace:
    """Return the place of the rewritten files of a shared table."""
    location = location_of(shared_id)
    return TablePlace(location, options_for(location))


def store_of(shared_id: UUID) -> TableStore:
    """Open the store of the rewritten files of a shared table."""
    return place_of(shared_id).open()


def path_of(key: str) -> str:
    """Return the path of a rewritten file below its location."""
    return f"{key}.parquet"


def keys_of(
    shared: SharedTable, rule: str, shape: str, parts: Iterable[ClassifiedPart]
) -> list[list[str]]:
    """Return the key of each file of some parts that is to be rewritten.

    Args:
        shape: Of the version, from its bound rule.
        parts: The parts; row for row with the marks of `rewritten`.
    """
    start = _hash_of(shared.id.hex, rule, shape)
    found = []
    for part in parts:
        files = part.part.block.files.filter(pa.array(part.rewritten))
        keys = []
        for path, vector in zip(
            files["path"].to_pylist(), files["dv_id"].to_pylist(), strict=True
        ):
            state = start.copy()
            state.update(f"{len(path)}:{path}{vector or ''}".encode())
            keys.append(state.hexdigest())
        found.append(keys)
    return found


def hashed_name(*facts: object) -> str:
    """Return the key of what was made from some facts, which tells nothing of them."""
    return _hash_of(*facts).hexdigest()


def _hash_of(*facts: object) -> hmac.HMAC:
    made = hmac.new(_key(settings.SECRET_KEY), digestmod="sha256")
    for text in map(str, facts):
        made.update(f"{len(text)}:{text}".encode())
    return made


@cache
def _key(secret: str) -> bytes:
    return derive_keys(secret, (), PURPOSE)[0]


def find_files(shared: SharedTable, rule: str) -> dict[str, PreparedFile]:
    """Return the rewritten data files of a rule by their keys."""
    rows = PreparedFile.objects.filter(shared_table=shared, rule=rule, changes=None)
    return {row.key: row for row in rows.iterator()}


def as_table(files: Sequence[PreparedFile]) -> pa.Table:
    """Return files that hold rows in the columns of `PREPARED_SCHEMA`."""
    held = [file for file in files if file.num_rows]
    columns = {
        "path": [path_of(file.key) for file in held],
        "size": [file.size_bytes for file in held],
        "modification_time": [to_ms(file.prepared_at) for file in held],
        "partition_values": [list(file.partition_values.items()) for file in held],
        "stats": [file.statistics or None for file in held],
    }
    return pa.table(columns, schema=PREPARED_SCHEMA)


def note_use(files: Sequence[PreparedFile], *, now: datetime) -> None:
    """Remember that files were offered, so that others expire before them."""
    stale = [file.id for file in files if file.last_used_at < now - USE_INTERVAL]
    for first in range(0, len(stale), KEYS_A_STATEMENT):
        some = stale[first : first + KEYS_A_STATEMENT]
        PreparedFile.objects.filter(id__in=some).update(last_used_at=now)


# === Erasing ===


def erase(shared_id: UUID, files: Sequence[PreparedFile]) -> None:
    """Delete rewritten files, and forget them; what is not there is passed over."""
    store = store_of(shared_id)
    store.delete_data_files([path_of(file.key) for file in files if file.num_rows])
    for first in range(0, len(files), KEYS_A_STATEMENT):
        some = [file.id for file in files[first : first + KEYS_A_STATEMENT]]
        # Changes are offered whole, or not at all.
        PreparedChanges.objects.filter(files__in=some).update(is_ready=False)
        PreparedFile.objects.filter(id__in=some).delete()


def erase_all(shared: SharedTable) -> None:
    """Delete all rewritten files of a shared table that is to be removed.

    Where their store does not answer they stay, and a warning says so.
    """
    try:
        erase(shared.id, list(shared.prepared_files.all()))
    except DeltaError as error:
        logger.warning("Rewritten files of %s stay: %s", shared, error)


def erase_without_source(
    shared: SharedTable, store: TableStore, live: frozenset[str]
) -> int:
    """Erase the files whose source is erased; return how many.

    Args:
        live: Paths of the newest version, which are there.
    """
    others = [
        file
        for file in shared.prepared_files.all()
        if file.source_path not in live and not _has(store, file.source_path)
    ]
    if others:
        erase(shared.id, others)
    return len(others)


def erase_strays(shared: SharedTable, *, now: datetime) -> None:
    """Delete what a preparation that was killed has left: files that no row knows.

    Those of one that lives may have no row yet, and stay.
    """
    store = store_of(shared.id)
    keys = shared.prepared_files.values_list("key", flat=True)
    known = {path_of(key) for key in keys}
    oldest_ms = to_ms(now - STRAY_AFTER)
    for listed in store.list_data_statuses():
        old = listed.filter(pc.field("modification_time") < oldest_ms)
        strays = set(old["place"].to_pylist()) - known
        store.delete_data_files(sorted(strays))


def _has(store: TableStore, path: str) -> bool:
    with suppress(DeltaError):
        return store.has_data_file(path)
    return True  # what cannot be looked at is not taken for erased
