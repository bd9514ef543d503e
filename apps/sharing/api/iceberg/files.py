"""Data files and deletion vectors of shared tables, in whichever store they are.

What rules left of files lies in a store of its own; only names of that kind open it.
"""

import hashlib
import io
import logging
import os
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final
from urllib.parse import quote

import pyarrow as pa

from apps.sharing.access.grants import prepared
from apps.sharing.answers.opening import open_shared
from apps.sharing.models import SharedTable
from apps.tables.storage.locations import check_allowed
from apps.tables.storage.opening import roots_of_server
from deltaweb.delta.deletion_vectors.errors import (
    DeletionVectorMissingError,
    MalformedVectorError,
)
from deltaweb.delta.deletion_vectors.reading import read_vector, vector_faults
from deltaweb.delta.deletion_vectors.roaring import PORTABLE
from deltaweb.delta.errors import DataFileMissingError
from deltaweb.delta.log.store import TableStore
from deltaweb.iceberg.access.object_keys import ObjectKey, PathSealer, location_of
from deltaweb.iceberg.objects import (
    DATA_FILES,
    REWRITTEN_FILES,
    NamedVector,
    data_locations,
    puffin_of,
)
from deltaweb.sharing.errors import FileGoneError
from deltaweb.storage.local_file import open_local_file
from deltaweb.storage.location import is_local, normalize_location

logger = logging.getLogger(__name__)

BLOCK_BYTES: Final = 1 << 20


@dataclass(frozen=True, slots=True, eq=False)
class StoredObject:
    """An object that is there, and is closed by whoever takes it.

    Attributes:
        etag: What distinguishes it from others of its name.
        data: All of it, where it is at hand; else None.
        file: It, open, where it is on this machine; else None.
        remote: It, open, where it is in another store; else None.
    """

    size_bytes: int
    etag: str
    data: bytes | None = None
    file: io.FileIO | None = None
    remote: pa.NativeFile | None = None

    def close(self) -> None:
        """Close what is open of it."""
        for one in (self.file, self.remote):
            if one is not None:
                one.close()


def remote_blocks(file: pa.NativeFile, first: int, length: int) -> Iterator[bytes]:
    """Yield a part of a file of another store, and close it.

    Args:
        length: How many bytes.
    """
    with file:
        file.seek(first)
        while length > 0 and (data := file.read(min(BLOCK_BYTES, length))):
            length -= len(data)
            yield data


def stored_bytes(data: bytes) -> StoredObject:
    """Return an object that is at hand."""
    return StoredObject(len(data), hashlib.sha256(data).hexdigest()[:32], data=data)


def open_stored(
    shared: SharedTable, key: ObjectKey, sealer: PathSealer
) -> StoredObject | None:
    """Open a data file or a deletion vector.

    Returns:
        The object; None where its key is none that was given out.
    """
    path = sealer.open(key.kind, key.text)
    if path is None:
        return None
    try:
        if key.kind == DATA_FILES:
            return _data_file(shared, path, sealer)
        if key.kind == REWRITTEN_FILES:
            return _rewritten_file(shared, path, sealer)
        return _vector(shared, NamedVector.of(path), sealer)
    except (DataFileMissingError, DeletionVectorMissingError) as error:
        logger.info("%s", error)
        raise FileGoneError from None


def _data_file(shared: SharedTable, path: str, sealer: PathSealer) -> StoredObject:
    location = shared.table.location
    if is_local(normalize_location(location)):
        check_allowed(location, roots=roots_of_server())
        return _local_file(location, path, sealer)
    return _remote_file(open_shared(shared).store, path, sealer)


def _rewritten_file(shared: SharedTable, path: str, sealer: PathSealer) -> StoredObject:
    location = prepared.location_of(shared.id)
    if is_local(normalize_location(location)):
        return _local_file(location, path, sealer)
    return _remote_file(prepared.store_of(shared.id), path, sealer)


def _local_file(location: str, path: str, sealer: PathSealer) -> StoredObject:
    file = open_local_file(location, path)
    found = os.fstat(file.fileno())
    etag = f"{sealer.digest}-{found.st_mtime_ns:x}-{found.st_size:x}"
    return StoredObject(found.st_size, etag, file=file)


def _remote_file(store: TableStore, path: str, sealer: PathSealer) -> StoredObject:
    remote = store.open_data_file(quote(path, safe="/"))
    size = remote.size()
    text = f"{sealer.digest}\0{size}\0{path}".encode("utf-8", "surrogateescape")
    return StoredObject(size, hashlib.sha256(text).hexdigest()[:32], remote=remote)


def _vector(
    shared: SharedTable, named: NamedVector, sealer: PathSealer
) -> StoredObject:
    store = open_shared(shared).store
    (location,) = data_locations(location_of(shared.id), sealer, [named.path])
    puffin = puffin_of(named, location)
    with vector_faults(named.path, named.fields):
        bitmap = read_vector(puffin.vector, store.open_data_file)
        if int.from_bytes(bitmap[:4], "little") != PORTABLE:
            raise MalformedVectorError(reason="it is of an old format")
    return stored_bytes(puffin.file(bitmap))
