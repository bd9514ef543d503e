"""Whether the actions of a transaction are such as the specification asks for.

Source: delta_protocol.md, "Requirements for Writers".
"""

from typing import Final

import pyarrow as pa
import pyarrow.compute as pc

from deltaweb.delta.features.clustering import (
    CLUSTERING,
    clustering_columns,
    is_clustered,
)
from deltaweb.delta.features.column_mapping import table_schema
from deltaweb.delta.features.deletion_vectors import DELETION_VECTORS, writes_vectors
from deltaweb.delta.features.registry import writer_features
from deltaweb.delta.log.commits.partition_keys import partition_keys
from deltaweb.delta.log.file_actions import DELETION_VECTOR, VECTOR, dv_ids, file_keys
from deltaweb.delta.log.store import LogStore
from deltaweb.delta.row_tracking.logged_fields import load_domains
from deltaweb.delta.values.partition_values import partition_schema
from deltaweb.delta.values.statistics.record_counts import record_counts
from deltaweb.delta.writing.errors import (
    CommitInvalidError,
    PartitionKeysError,
    UnsupportedWriteError,
)
from deltaweb.delta.writing.transaction import Transaction

NOT_A_PATH: Final = r"[\x00-\x20\x7f<>\"{}|\\^`]|%(?:[^0-9A-Fa-f]|.[^0-9A-Fa-f]|.?$)"
"""What a URI never holds as it is; in a path all of this is escaped."""
ABSOLUTE: Final = r"^(?:/|[A-Za-z][A-Za-z0-9+.-]*:)"
LEADS_OUT: Final = r"(?:^|/)(?:\.|%2[Ee]){2}(?:/|%2[Ff]|$)|%00"
_PATH_FAULTS: Final = (
    (NOT_A_PATH, "is not encoded as a URI"),
    (ABSOLUTE, "is not relative to the table"),
    (LEADS_OUT, "leads out of the table"),
)
_ANY_FAULT: Final = "|".join(pattern for pattern, _ in _PATH_FAULTS)


def check_actions(transaction: Transaction, *, root: str, version: int) -> None:
    """Refuse a transaction that would break the log.

    Args:
        version: The version it is to make first.
    """
    reason = _fault_of_files(transaction)
    if reason is None and transaction.metadata is not None:
        reason = _fault_of_definition(transaction)
    if reason is not None:
        raise CommitInvalidError(root=root, version=version, reason=reason)
    _check_partition_values(transaction)


def check_clustering(store: LogStore, transaction: Transaction) -> None:
    """Refuse a definition without a column that the table is clustered by."""
    base, metadata = transaction.base, transaction.metadata
    if base is None or metadata is None or not is_clustered(base.protocol):
        return
    schema = table_schema(transaction.next_protocol, metadata)
    _, gone = clustering_columns(load_domains(store, base.version), schema)
    if gone:
        needs = [f"{CLUSTERING} by the column {'.'.join(gone[0])}, which would be gone"]
        raise UnsupportedWriteError(root=store.root, version=base.version, needs=needs)
    if metadata.partition_columns:
        needs = [f"{CLUSTERING} without partition columns"]
        raise UnsupportedWriteError(root=store.root, version=base.version, needs=needs)


def _fault_of_files(transaction: Transaction) -> str | None:
    added, removed = transaction.added["path"], transaction.removed["path"]
    for paths, verb in ((added, "added"), (removed, "removed")):
        if paths.null_count:
            return f"a file that is {verb} has no path"
        if len(paths.unique()) != len(paths):
            return f"a file is {verb} twice"
    both = pc.is_in(_keys(transaction.added), value_set=_keys(transaction.removed))
    if pc.any(both).as_py():
        return "a file is both added and removed"
    if transaction.added["size"].null_count:
        return "a file that is added has no size"
    return _fault_of_new_files(transaction) or _fault_of_vectors(transaction)


def _keys(files: pa.Table) -> pa.Array:
    """Return what identifies each file: its path, and its vector if any."""
    paths = files["path"].combine_chunks()
    if VECTOR not in files.column_names:
        return paths
    vectors = files[VECTOR].combine_chunks().cast(DELETION_VECTOR)
    return file_keys(paths, dv_ids(vectors))


def _fault_of_vectors(transaction: Transaction) -> str | None:
    """Return what is wrong with vectors that were written for a transaction."""
    added = transaction.added
    if not transaction.are_files_new or VECTOR not in added.column_names:
        return None
    marked = added.filter(added[VECTOR].is_valid())
    if not marked.num_rows:
        return None
    names = writer_features(transaction.next_protocol)
    configuration = transaction.next_metadata.configuration
    if DELETION_VECTORS not in names or not writes_vectors(configuration):
        return "the table takes no new deletion vectors"
    counts = record_counts(marked["stats"].to_pylist())
    said = pc.struct_field(marked[VECTOR].combine_chunks(), ["cardinality"])
    if counts.null_count or pc.any(pc.less(counts, said)).as_py():
        return "the statistics of a file with a vector have no number of its rows"
    return None


def _fault_of_new_files(transaction: Transaction) -> str | None:
    added = transaction.new_files
    fault = _fault_of_paths(added["path"])
    if fault is not None:
        return fault
    counts = record_counts(added["stats"].to_pylist())
    if counts.null_count or (len(counts) and pc.min(counts).as_py() < 0):
        return "the statistics of a file have no number of rows"
    return None


def _fault_of_paths(paths: pa.ChunkedArray) -> str | None:
    if not pc.any(pc.match_substring_regex(paths, _ANY_FAULT)).as_py():
        return None
    for pattern, fault in _PATH_FAULTS:
        bad = paths.filter(pc.match_substring_regex(paths, pattern))
        if len(bad):
            return f"the path {str(bad[0])[:200]!r} {fault}"
    return None


def _fault_of_definition(transaction: Transaction) -> str | None:
    metadata = transaction.next_metadata
    if metadata.schema_string is None:
        return "its metaData has no schema"
    if not metadata.id:
        return "its metaData has no id"
    schema = table_schema(transaction.next_protocol, metadata)
    partition_schema(schema, metadata.partition_columns)
    return None


def _check_partition_values(transaction: Transaction) -> None:
    keys = partition_keys(transaction.next_protocol, transaction.next_metadata)
    added = transaction.new_files
    values = added["partition_values"]
    lengths = pc.coalesce(_map_lengths(values), 0)
    fits = pc.equal(lengths, len(keys))
    for key in keys:
        found = pc.map_lookup(values, query_key=key, occurrence="all")
        fits = pc.and_(
            fits, pc.coalesce(pc.equal(pc.list_value_length(found), 1), False)
        )  # what a null becomes
    bad = added["path"].filter(pc.invert(fits))
    if len(bad):
        raise PartitionKeysError(path=str(bad[0]), column="", columns=keys)


def _map_lengths(values: pa.ChunkedArray) -> pa.ChunkedArray:
    entries = values.type
    as_list = pa.list_(pa.struct([entries.key_field, entries.item_field]))
    return pc.list_value_length(values.cast(as_list))
