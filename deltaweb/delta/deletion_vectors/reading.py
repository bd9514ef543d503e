"""Reading the deletion vector of a data file, from storage or from the log.

Source: delta_protocol.md, "Deletion Vector File Storage Format".
"""

import struct
import zlib
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any, Final

import pyarrow as pa

from deltaweb.delta.deletion_vectors.deleted_rows import DeletedRows
from deltaweb.delta.deletion_vectors.descriptor import DeletionVector, shown_place
from deltaweb.delta.deletion_vectors.errors import (
    DeletionVectorError,
    DeletionVectorMissingError,
    MalformedVectorError,
)
from deltaweb.delta.deletion_vectors.roaring import read_bitmap
from deltaweb.delta.deletion_vectors.z85 import decode_z85
from deltaweb.delta.errors import (
    DataFileMissingError,
    DeltaError,
    PathEscapesTableError,
)

FILE_VERSION: Final = 1
MAX_BYTES: Final = 64 << 20
BASE_BYTES: Final = 1 << 20
BYTES_A_ROW: Final = 2
"""A vector of more bytes than these for each row of its file is none of a writer's."""
MAX_REASON_LENGTH: Final = 200
_HEAD: Final = struct.Struct(">I")

OpenFile = Callable[[str], pa.NativeFile]
"""Opens a file of the table at a path of the log."""


@contextmanager
def vector_faults(path: str, fields: Mapping[str, Any]) -> Iterator[None]:
    """Turn every fault of a vector into an error that names it and its data file."""
    try:
        yield
    except PathEscapesTableError as error:
        reason = error.reason
    except (FileNotFoundError, DataFileMissingError):
        raise DeletionVectorMissingError(
            path=path, vector=shown_place(fields)
        ) from None
    except DeltaError:
        raise
    except (ValueError, OSError, pa.ArrowException, OverflowError) as error:
        reason = str(error).partition("\n")[0][:MAX_REASON_LENGTH].rstrip(".")
    else:
        return
    raise DeletionVectorError(path=path, vector=shown_place(fields), reason=reason)


def read_deleted_rows(
    path: str, fields: Mapping[str, Any], num_rows: int, open_file: OpenFile
) -> DeletedRows:
    with vector_faults(path, fields):
        vector = DeletionVector.of(fields)
        most = min(MAX_BYTES, BASE_BYTES + BYTES_A_ROW * num_rows)
        data = read_vector(vector, open_file, most_bytes=most)
        rows = DeletedRows(read_bitmap(data))
        if len(rows) != vector.cardinality:
            raise MalformedVectorError(
                reason=f"it marks {len(rows):,} rows, "
                f"but the log says {vector.cardinality:,}"
            )
        rows.check_within(num_rows)
        return rows


def read_vector(
    vector: DeletionVector, open_file: OpenFile, *, most_bytes: int = MAX_BYTES
) -> bytes:
    """Read the bitmap of a vector, its magic number first."""
    if vector.size_bytes > most_bytes:
        raise MalformedVectorError(
            reason=f"it has {vector.size_bytes:,} bytes, "
            f"but the limit is {most_bytes:,}"
        )
    place = vector.path
    if place is None:
        return _inline_bytes(vector)
    return _stored_bytes(vector, place, open_file)


def _inline_bytes(vector: DeletionVector) -> bytes:
    data = decode_z85(vector.path_or_inline)
    # Bytes are filled up to whole groups of Z85.
    if not 0 <= len(data) - vector.size_bytes < 4:  # noqa: PLR2004 # bytes of a group
        raise MalformedVectorError(
            reason=f"it has {len(data):,} bytes, but the log says {vector.size_bytes:,}"
        )
    return data[: vector.size_bytes]


def _stored_bytes(vector: DeletionVector, place: str, open_file: OpenFile) -> bytes:
    start, size = vector.offset or 0, vector.size_bytes
    with open_file(place) as file:
        version = file.read(1)
        file.seek(start)
        framed: bytes = file.read(_HEAD.size + size + _HEAD.size)
    if version != bytes([FILE_VERSION]):
        raise MalformedVectorError(reason="the version of its file is unknown")
    if len(framed) < _HEAD.size:
        raise MalformedVectorError(reason="it ends too early")
    (said,) = _HEAD.unpack_from(framed)
    if said != size:
        raise MalformedVectorError(
            reason=f"its file says {said:,} bytes, but the log says {size:,}"
        )
    if len(framed) < 2 * _HEAD.size + size:
        raise MalformedVectorError(reason="it ends too early")
    data = framed[_HEAD.size : -_HEAD.size]
    if _HEAD.unpack_from(framed, _HEAD.size + size) != (zlib.crc32(data),):
        raise MalformedVectorError(reason="its checksum is wrong")
    return data
