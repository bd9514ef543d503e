"""The files of deletion vectors that a log speaks of.

Source: delta_protocol.md, "Deletion Vector Descriptor Schema".
"""

from collections.abc import Iterable

import pyarrow as pa

from deltaweb.delta.deletion_vectors.descriptor import INLINE, DeletionVector
from deltaweb.delta.deletion_vectors.errors import MalformedVectorError
from deltaweb.delta.deletion_vectors.reading import vector_faults

OFFSET_MARK = "@"


def vector_paths(files: pa.Table) -> list[str]:
    """Return the paths of the files of vectors, in the form of the log; once each."""
    marked = files.filter(files["deletion_vector"].is_valid())
    found: dict[str, None] = {}
    for path, fields in zip(
        marked["path"].to_pylist(), marked["deletion_vector"].to_pylist(), strict=True
    ):
        with vector_faults(path, fields):
            place = DeletionVector.of(fields).path
        if place is not None:
            found[place] = None
    return list(found)


def paths_of_ids(ids: Iterable[str]) -> list[str]:
    """Return the same by the ids of vectors; one that does not read has no file."""
    found: dict[str, None] = {}
    for text in ids:
        kind, name = text[:1], text[1:]
        if kind == INLINE:
            continue
        # An offset is digits; but a mark may be a part of a name, too.
        base, mark, offset = name.rpartition(OFFSET_MARK)
        names = [name, base] if mark and offset.isdigit() else [name]
        for one in names:
            try:
                place = DeletionVector(kind, one, None, 0, 0).path
            except MalformedVectorError:
                continue
            if place is not None:
                found[place] = None
    return list(found)
