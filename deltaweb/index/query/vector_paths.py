"""Where the deletion vectors of files lead below a table's root."""

import pyarrow as pa

from deltaweb.delta.deletion_vectors.descriptor import DeletionVector
from deltaweb.delta.deletion_vectors.reading import vector_faults
from deltaweb.index.query.relative_paths import relative_path


def vector_paths(
    paths: pa.StringArray, vectors: pa.StructArray, root: str
) -> pa.StringArray:
    """Return the path of each file's deletion vector below the root, decoded once.

    Null where a file has none, or has it in the log.
    """
    if vectors.null_count == len(vectors):
        return pa.nulls(len(vectors), pa.string())
    found = []
    for path, fields in zip(paths.to_pylist(), vectors.to_pylist(), strict=True):
        place = None
        if fields is not None:
            with vector_faults(path, fields):
                place = DeletionVector.of(fields).path
                place = None if place is None else relative_path(place, root)
        found.append(place)
    return pa.array(found, pa.string())
