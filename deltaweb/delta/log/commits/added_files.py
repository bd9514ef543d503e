"""The files that commits add, without what else these say of them."""

from collections.abc import Sequence

import numpy as np
import pyarrow as pa

from deltaweb.delta.errors import LogCorruptError
from deltaweb.delta.log.blocks import KeySet
from deltaweb.delta.log.commits.batch import read_commit_batches
from deltaweb.delta.log.paths import commit_name
from deltaweb.delta.log.store import LogStore


def read_added_paths(store: LogStore, version: int) -> KeySet:
    """Read the paths of the files that a commit adds, as they are in the log.

    Raises:
        LogFileGoneError: If the log has no such commit.
        LogCorruptError: If the commit does not read.
    """
    (batch,) = read_commit_batches(store, [version])
    if batch.fault is not None:
        raise LogCorruptError(
            path=f"{store.root}/_delta_log/{commit_name(version)}", reason=batch.fault
        )
    return KeySet(batch.files.paths.filter(pa.array(batch.files.is_add)))


def versions_that_add_vectors(store: LogStore, versions: Sequence[int]) -> set[int]:
    """Return the commits that add a file with a deletion vector, or that do not read.

    Args:
        versions: The commits to read, ascending.

    Raises:
        LogFileGoneError: If the log does not have one of them.
    """
    found: set[int] = set()
    for batch in read_commit_batches(store, versions):
        if not batch.has_identities:
            found.update(batch.versions)
            continue
        files = batch.files
        with_vector = files.dv_ids.is_valid().to_numpy(zero_copy_only=False)
        for owner in np.unique(files.owners[with_vector & files.is_add]).tolist():
            found.add(batch.versions[owner])
    return found
