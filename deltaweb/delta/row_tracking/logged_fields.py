"""What the log says of the ids of rows, and of who laid out a file.

A snapshot does without these fields of files, so they are read where a table has a use
for them: by those who write.

Source: delta_protocol.md, "Row Tracking" and "Clustered Table".
"""

import contextlib
from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from typing import Final

import pyarrow as pa
import pyarrow.compute as pc

from deltaweb.delta.errors import LogCorruptError
from deltaweb.delta.log.checkpoints.attempts import of_checkpoint, try_segments
from deltaweb.delta.log.checkpoints.reader import CheckpointReader
from deltaweb.delta.log.commits.fields import commit_schema, file_action
from deltaweb.delta.log.commits.reading import parsed_commits
from deltaweb.delta.log.paths import commit_name
from deltaweb.delta.log.segment import LogSegment
from deltaweb.delta.log.store import LogStore
from deltaweb.environment.bounded_json import parse_json

DOMAIN: Final = "delta.rowTracking"
HIGH_WATER_MARK: Final = "rowIdHighWaterMark"
NO_ROW_ID: Final = -1
"""The high water mark of a table whose rows have no ids."""
BASE_ROW_ID: Final = "base_row_id"
ROW_VERSION: Final = "default_row_commit_version"
PROVIDER: Final = "clustering_provider"
LOGGED_FIELDS: Final = pa.schema(
    [
        pa.field("path", pa.string()),
        pa.field(BASE_ROW_ID, pa.int64()),
        pa.field(ROW_VERSION, pa.int64()),
        pa.field(PROVIDER, pa.string()),
    ]
)
IN_THE_LOG: Final = {
    BASE_ROW_ID: "baseRowId",
    ROW_VERSION: "defaultRowCommitVersion",
    PROVIDER: "clusteringProvider",
}
DOMAIN_METADATA: Final = pa.struct(
    {"domain": pa.string(), "configuration": pa.string(), "removed": pa.bool_()}
)
_ACTION: Final = file_action(
    ("path",),
    others={name: LOGGED_FIELDS.field(key).type for key, name in IN_THE_LOG.items()},
)
_SCHEMA: Final = commit_schema(add=_ACTION, domainMetadata=DOMAIN_METADATA)
_DOMAINS_ONLY: Final = commit_schema(domainMetadata=DOMAIN_METADATA)


@dataclass(frozen=True, slots=True, eq=False)
class LoggedFields:
    """What the log of a version says beside its snapshot.

    Attributes:
        files: In the columns of `LOGGED_FIELDS`, a row a path: that of its last add.
    """

    files: pa.Table
    domains: dict[str, str]

    @property
    def high_water_mark(self) -> int:
        """The highest id that a row ever got."""
        return read_high_water_mark(self.domains.get(DOMAIN))

    def of(self, paths: pa.ChunkedArray) -> pa.Table:
        """Return the fields of some files, row for row; null where none is known."""
        places = pc.index_in(paths, value_set=self.files["path"].combine_chunks())
        return self.files.drop_columns("path").take(places)


def load_logged_fields(store: LogStore, version: int) -> LoggedFields:
    """Read what the log says of a version beside its snapshot."""
    attempt = partial(_read_segment, store)
    return try_segments(store, version, attempt, by_compactions=False)


def load_domains(store: LogStore, version: int) -> dict[str, str]:
    """Read the configuration of each domain of the table's metadata at a version."""
    attempt = partial(_read_domains, store)
    return try_segments(store, version, attempt, by_compactions=False)


def load_high_water_mark(store: LogStore, version: int) -> int:
    """Read the highest id that a row ever got; the newest commit mostly says it."""
    domains: dict[str, str] = {}
    with contextlib.suppress(LogCorruptError):  # a clean-up may have taken it
        names = [commit_name(version)]
        for _, batch in parsed_commits(store, names, _DOMAINS_ONLY):
            _take_domains(domains, batch.table)
    if DOMAIN in domains:
        return read_high_water_mark(domains[DOMAIN])
    return read_high_water_mark(load_domains(store, version).get(DOMAIN))


def read_high_water_mark(configuration: str | None) -> int:
    """Return the highest id of a domain's configuration; `NO_ROW_ID` for none."""
    try:
        mark = parse_json(configuration or "")[HIGH_WATER_MARK]
    except (ValueError, KeyError, TypeError, RecursionError):
        return NO_ROW_ID
    return mark if type(mark) is int else NO_ROW_ID


def _read_segment(store: LogStore, segment: LogSegment) -> LoggedFields:
    domains: dict[str, str] = {}
    found: list[pa.Table] = []
    if segment.checkpoint is not None:
        with of_checkpoint(segment.checkpoint):
            reader = CheckpointReader(store, segment.checkpoint)
            domains = reader.domains()
            found.extend(_checkpoint_fields(reader))
    for _, batch in parsed_commits(store, segment.commit_names, _SCHEMA):
        _take_domains(domains, batch.table)
        found.append(_columns(batch.column("add").drop_null()))
    files = pa.concat_tables([LOGGED_FIELDS.empty_table(), *found])
    return LoggedFields(_last_of_each_path(files), domains)


def _read_domains(store: LogStore, segment: LogSegment) -> dict[str, str]:
    domains: dict[str, str] = {}
    if segment.checkpoint is not None:
        with of_checkpoint(segment.checkpoint):
            domains = CheckpointReader(store, segment.checkpoint).domains()
    for _, batch in parsed_commits(store, segment.commit_names, _DOMAINS_ONLY):
        _take_domains(domains, batch.table)
    return domains


def _take_domains(domains: dict[str, str], actions: pa.Table) -> None:
    for raw in actions["domainMetadata"].drop_null().to_pylist():
        if raw["domain"] is None:
            continue
        domains.pop(raw["domain"], None)
        if not raw["removed"]:
            domains[raw["domain"]] = raw["configuration"] or ""


def _checkpoint_fields(reader: CheckpointReader) -> Iterator[pa.Table]:
    for group in reader.row_groups:
        names = ["path", *IN_THE_LOG.values()]
        leaves = [leaf for name in names for leaf in group.find_leaves(f"add.{name}")]
        if not group.find_leaves("add.path"):
            continue
        table = group.part.read(group.indices, leaves)
        for chunk in table["add"].chunks:
            yield _columns(chunk.drop_null())


def _columns(actions: pa.StructArray) -> pa.Table:
    present = {field.name for field in actions.type}
    columns = [
        pc.struct_field(actions, [name]).cast(LOGGED_FIELDS.field(key).type)
        if name in present
        else pa.nulls(len(actions), LOGGED_FIELDS.field(key).type)
        for key, name in {"path": "path", **IN_THE_LOG}.items()
    ]
    found = pa.Table.from_arrays(columns, schema=LOGGED_FIELDS)
    return found.filter(found["path"].is_valid())


def _last_of_each_path(files: pa.Table) -> pa.Table:
    if not files.num_rows:
        return files
    places = pa.array(range(files.num_rows), pa.int64())
    last = (
        files.select(["path"])
        .append_column("place", places)
        .group_by("path")
        .aggregate([("place", "max")])
    )
    return files.take(last["place_max"])
