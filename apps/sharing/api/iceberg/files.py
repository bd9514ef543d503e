"""Data files and deletion vectors of shared tables, in whichever store they are.

What rules left of files lies in a store of its own; only names of that kind open it.
"""

import errno
import hashlib
import io
import logging
import os
from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack
from dataclasses import dataclass, replace
from typing import Any, Final
from urllib.parse import quote

import pyarrow as pa

from apps.sharing.access.grants import prepared
from apps.sharing.answers.opening import open_shared
from apps.sharing.models import SharedTable
from apps.tables.storage.opening import open_table_file
from deltaweb.delta.deletion_vectors.errors import (
    DeletionVectorMissingError,
    MalformedVectorError,
)
from deltaweb.delta.deletion_vectors.reading import read_vector, vector_faults
from deltaweb.delta.deletion_vectors.roaring import PORTABLE
from deltaweb.delta.errors import DataFileMissingError
from deltaweb.delta.log.store import TableStore
from deltaweb.environment.kept_values import KeptValues
from deltaweb.iceberg.access.object_keys import ObjectKey, PathSealer, location_of
from deltaweb.iceberg.objects import (
    DATA_FILES,
    REWRITTEN_FILES,
    WITH_IDS,
    NamedVector,
    ObjectNames,
    puffin_of,
)
from deltaweb.iceberg.schema import FieldIds
from deltaweb.iceberg.served_file import Piece, Seam, ServedForm, seam_of
from deltaweb.parquet.tail import FIRST_READ_BYTES, RangeSource, open_source
from deltaweb.sharing.errors import FileGoneError
from deltaweb.storage.local_file import open_local_file
from deltaweb.storage.location import is_local, normalize_location

logger = logging.getLogger(__name__)

BLOCK_BYTES: Final = 1 << 20
KEPT_BYTES: Final = 64 << 20
_seams: Final[KeptValues[tuple[str, str, str, str, str], Seam | None]] = KeptValues(
    KEPT_BYTES
)
"""Rewritten footers: by the scope of the name, the file, its room, the ids of the
columns, which a later version may change, and the state of the file."""


@dataclass(frozen=True, slots=True, eq=False)
class StoredObject:
    """An object that is there, and is closed by whoever takes it.

    Attributes:
        stored_bytes: Its size in the store.
        etag: What distinguishes it from others of its name.
        data: All of it, where it is at hand; else None.
        file: It, open, where it is on this machine; else None.
        remote: It, open, where it is in another store; else None.
        seam: Where it differs from the stored file; None if it does not.
    """

    stored_bytes: int
    etag: str
    data: bytes | None = None
    file: io.FileIO | None = None
    remote: pa.NativeFile | None = None
    seam: Seam | None = None

    @property
    def size_bytes(self) -> int:
        """Its size as clients get it."""
        if self.seam is None:
            return self.stored_bytes
        return self.seam.size_bytes(self.stored_bytes)

    def pieces(self, first: int, length: int) -> list[Piece]:
        """Return a part of it: bytes at hand, and places in the stored file."""
        if self.data is not None:
            return [self.data[first : first + length]]
        if self.seam is None:
            return [range(first, first + length)]
        return self.seam.pieces(first, length)

    def blocks(self, pieces: Iterable[Piece]) -> Iterator[bytes]:
        """Yield parts of it."""
        for piece in pieces:
            if isinstance(piece, bytes):
                yield piece
            else:
                yield from _blocks(self.opened, piece)

    @property
    def opened(self) -> Any:  # noqa: ANN401 (a file of Python's or of Arrow's)
        """The stored file; None if the object is at hand."""
        return self.file if self.file is not None else self.remote

    def close(self) -> None:
        """Close what is open of it."""
        if self.opened is not None:
            self.opened.close()


def _blocks(file: Any, places: range) -> Iterator[bytes]:  # noqa: ANN401 (of Python's or of Arrow's)
    file.seek(places.start)
    left = len(places)
    while left > 0:
        data = file.read(min(BLOCK_BYTES, left))
        if not data:
            logger.warning("A file became shorter while it was served")
            raise ConnectionResetError(errno.ECONNRESET, "the file became shorter")
        left -= len(data)
        yield data


def stored_bytes(data: bytes) -> StoredObject:
    """Return an object that is at hand."""
    return StoredObject(len(data), hashlib.sha256(data).hexdigest()[:32], data=data)


def open_stored(
    shared: SharedTable,
    key: ObjectKey,
    sealer: PathSealer,
    read_ids: Callable[[str], FieldIds | None],
) -> StoredObject | None:
    """Open a data file or a deletion vector.

    Args:
        read_ids: Returns the ids of the table's columns that have a digest; None if
            it has others.

    Returns:
        The object; None where its key is none that was given out.
    """
    path = sealer.open(key.kind, key.text)
    if path is None:
        return None
    try:
        kind = key.kind.removesuffix(WITH_IDS)
        if kind == key.kind:
            return _stored(shared, kind, path, sealer)
        text, _, path = path.partition(":")
        form = ServedForm.of(text)
        ids = read_ids(form.ids)
        if ids is None:
            return None
        stored = _stored(shared, kind, path, sealer)
        return _with_ids(stored, f"{kind}/{path}", form.room, sealer, ids)
    except (DataFileMissingError, DeletionVectorMissingError) as error:
        logger.info("%s", error)
        raise FileGoneError from None


def _stored(
    shared: SharedTable, kind: str, path: str, sealer: PathSealer
) -> StoredObject:
    if kind == DATA_FILES:
        return _data_file(shared, path, sealer)
    if kind == REWRITTEN_FILES:
        return _rewritten_file(shared, path, sealer)
    return _vector(shared, NamedVector.of(path), sealer)


def _with_ids(
    stored: StoredObject,
    name: str,
    room: int,
    sealer: PathSealer,
    ids: FieldIds,
) -> StoredObject:
    """Return a file with a footer that has field ids, which is made once and kept."""
    with ExitStack() as opening:
        opening.callback(stored.close)
        source = opening.enter_context(open_source(stored.opened))
        key = sealer.digest, name, str(room), ids.digest, _state(stored, source)
        if (kept := _seams.find(key)) is not None:
            (seam,) = kept
        else:
            seam = seam_of(source, ids, room)
            size = 0 if seam is None else len(seam.data)
            _seams.keep(key, seam, size + sum(map(len, key)))
        opening.pop_all()
    if seam is None:
        return stored
    etag = hashlib.sha256(seam.data).hexdigest()[:16]
    return replace(stored, seam=seam, etag=f"{stored.etag}-{etag}")


def _state(stored: StoredObject, source: RangeSource) -> str:
    """Return what a file of other bytes under the same name would not have.

    A local file has its time. The name of another one says nothing of its bytes, but
    its end is at hand (`deltaweb.storage.remote_file`).
    """
    if stored.file is not None:
        return stored.etag
    length = min(stored.stored_bytes, FIRST_READ_BYTES)
    end = source.read_at(length, stored.stored_bytes - length)
    return f"{stored.etag}-{hashlib.sha256(end).hexdigest()}"


def _data_file(shared: SharedTable, path: str, sealer: PathSealer) -> StoredObject:
    if is_local(normalize_location(shared.table.location)):
        return _local_file(open_table_file(shared.table, path), sealer)
    return _remote_file(open_shared(shared).store, path, sealer)


def _rewritten_file(shared: SharedTable, path: str, sealer: PathSealer) -> StoredObject:
    location = prepared.location_of(shared.id)
    if is_local(normalize_location(location)):
        return _local_file(open_local_file(location, path), sealer)
    return _remote_file(prepared.store_of(shared.id), path, sealer)


def _local_file(file: io.FileIO, sealer: PathSealer) -> StoredObject:
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
    names = ObjectNames(
        table_location=location_of(shared.id),
        version_location="",
        sealer=sealer,
        form=named.form,
    )
    (location,) = names.data([named.path]).to_pylist()
    puffin = puffin_of(named, location)
    with vector_faults(named.path, named.fields):
        bitmap = read_vector(puffin.vector, store.open_data_file)
        if int.from_bytes(bitmap[:4], "little") != PORTABLE:
            raise MalformedVectorError(reason="it is of an old format")
    return stored_bytes(puffin.file(bitmap))
