"""Clustering: columns whose close values are kept close in files, as the table says.

The columns are in the domain `delta.clustering`, by the names that they are stored as.

Source: delta_protocol.md, "Clustered Table".
"""

from collections.abc import Iterator, Mapping
from typing import Final

from deltaweb.delta.features.feature import Feature, LogWriting
from deltaweb.delta.protocol.actions import Protocol
from deltaweb.delta.protocol.column_path import ColumnPath
from deltaweb.delta.protocol.schema import StructType, leaf_fields, stored_schema
from deltaweb.environment.bounded_json import parse_json

CLUSTERING: Final = "clustering"
CLUSTERING_DOMAIN: Final = "delta.clustering"
CLUSTERING_COLUMNS: Final = "clusteringColumns"


def is_clustered(protocol: Protocol) -> bool:
    """Return whether a table may have clustering columns."""
    return CLUSTERING in (protocol.writer_features or ())


def stored_columns(domains: Mapping[str, str]) -> list[ColumnPath]:
    try:
        said = parse_json(domains.get(CLUSTERING_DOMAIN, ""))[CLUSTERING_COLUMNS]
        return [*_paths(said)]
    except (ValueError, KeyError, TypeError, RecursionError):
        return []


def _paths(said: list[object]) -> Iterator[ColumnPath]:
    for path in said:  # the specification's example has names, writers write paths
        yield (path,) if isinstance(path, str) else tuple(map(str, path))  # type: ignore[call-overload]


def clustering_columns(
    domains: Mapping[str, str], schema: StructType
) -> tuple[list[ColumnPath], list[ColumnPath]]:
    """Return the clustering columns by the table's names, and those it has not."""
    paths, stored = (
        [leaf.path for leaf in leaf_fields(some)]
        for some in (schema, stored_schema(schema))
    )
    names = dict(zip(stored, paths, strict=True))
    asked = stored_columns(domains)
    found = [names[path] for path in asked if path in names]
    return found, [path for path in asked if path not in names]


FEATURE: Final = Feature(CLUSTERING, log_writing=LogWriting.CARRIED, is_written=True)
