"""What rules leave of the changes of versions, rewritten by the same rules as the rows.

Whoever sees a part of a table sees a change of it where a row comes into the part or
goes from it: an update is the row as it was, which goes, and as it is, which comes.
One of which nothing is seen is none. Changes are made ready version by version, from
the one on that was first made ready under the rule; of a version that cannot be, none.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from django.db import transaction
from django.db.models import Max, Min

from deltaweb.delta.changes.row_changes import CHANGE_TYPE
from deltaweb.delta.errors import PredicateError, SchemaError
from deltaweb.delta.feed.changed_files import ChangedFiles
from deltaweb.delta.feed.changed_rows import FeedRequest, FeedScan
from deltaweb.delta.feed.errors import (
    FeedFileMissingError,
    FeedOffError,
    FeedSchemaError,
)
from deltaweb.delta.feed.feed_files import FEED_FILES_SCHEMA
from deltaweb.delta.feed.net_changes import as_going_and_coming, net_changes
from deltaweb.delta.feed.row_schema import FEED_COLUMNS
from deltaweb.delta.feed.versions import VersionRange, has_feed
from deltaweb.delta.protocol.schema import StructType
from deltaweb.delta.snapshot.state import Definition
from deltaweb.expressions.condition import SQLCondition
from deltaweb.index.query.shared_version import SharedVersion
from deltaweb.sharing.errors import RuledChangesError, VersionNotReadyError
from deltaweb.table import DeltaTable
from deltaweb.web.jobs.running.reports import Reports
from deltaweb.web.sharing.access.grants.prepared import (
    hashed_name,
    note_use,
    path_of,
    store_of,
)
from deltaweb.web.sharing.access.grants.rules import TableRule
from deltaweb.web.sharing.models import (
    PreparedChanges,
    PreparedFile,
    PreparedVersion,
    SharedTable,
)
from deltaweb.writer.excerpt import write_excerpt
from deltaweb.writer.files.parquet_file import WrittenFile

HELD_BYTES: Final = 256 << 20
"""Of the files of a version whose changes are held against each other in memory."""
_SOURCE: Final = "_deltaweb_source"
# What no later attempt would mend.
_LASTING: Final = (
    FeedFileMissingError,
    FeedOffError,
    FeedSchemaError,
    PredicateError,
    SchemaError,
)


# === Rewriting ===


def prepare_changes(  # noqa: PLR0913 (of what, and who hears)
    shared: SharedTable,
    rule: TableRule,
    opened: DeltaTable,
    newest: SharedVersion,
    *,
    reports: Reports,
    now: datetime,
) -> None:
    """Make the changes of versions ready that came since the last ones."""
    since = _last_version(shared, rule)
    partitions = newest.metadata.partition_columns
    if (
        since is None
        or not shared.with_history
        or not has_feed(newest.metadata)
        or rule.leaves_whole_files(newest.schema, partitions)
    ):
        return
    times = opened.commit_times()
    first = max(since + 1, shared.start_version or 0)
    for version in range(first, newest.version + 1):
        reports.progress(
            version - first, total=newest.version + 1 - first, unit="versions"
        )
        made_ms = times.time_ms(version) or 0
        facts = {"shared_table": shared, "rule": rule.digest, "version": version}
        changes = PreparedChanges(**facts, is_ready=False, made_ms=made_ms)
        _prepare_version(changes, rule, opened, now=now)


def _last_version(shared: SharedTable, rule: TableRule) -> int | None:
    """Return the version up to which changes are ready, or need not be."""
    facts = {"shared_table": shared, "rule": rule.digest}
    done = PreparedChanges.objects.filter(**facts).aggregate(found=Max("version"))
    if done["found"] is not None:
        return int(done["found"])
    found = PreparedVersion.objects.filter(**facts).aggregate(found=Min("version"))
    return None if found["found"] is None else int(found["found"])


def _prepare_version(
    changes: PreparedChanges, rule: TableRule, opened: DeltaTable, *, now: datetime
) -> None:
    """Rewrite the changes of a version; they are known once all of them are there."""
    files: list[PreparedFile] = []
    try:
        scan = _VersionChanges.of(opened, rule, changes.version)
        for number, file, written in scan.write(changes):
            values = dict(file["partition_values"][0].as_py() or ())
            told = {name: values.get(name) for name in scan.partition_keys}
            made = PreparedFile(
                shared_table=changes.shared_table,
                changes=changes,
                key=_key(changes, number),
                rule=changes.rule,
                source_path=file["path"][0].as_py(),
                num_rows=written.num_rows,
                size_bytes=written.size,
                partition_values=told,
                prepared_at=now,
                last_used_at=now,
            )
            files.append(made)
        changes.is_ready = scan.fits
    except _LASTING:
        files = []  # they are refused by name
    with transaction.atomic():
        changes.save()
        PreparedFile.objects.bulk_create(files)


@dataclass(frozen=True, slots=True)
class _VersionChanges:
    """The changes of one version, and what a rule leaves of them.

    Attributes:
        seen: The columns that may be seen.
        partitions: Those of them that files do not hold.
        condition: Which rows may be seen; None for all.
    """

    scan: FeedScan
    files: list[ChangedFiles]
    seen: StructType
    partitions: list[str]
    condition: SQLCondition | None

    @classmethod
    def of(cls, opened: DeltaTable, rule: TableRule, version: int) -> "_VersionChanges":
        """Look at the changes of a version."""
        told = FeedScan(opened.store, FeedRequest(versions=(version, version)))
        own = {column.name for column in FEED_COLUMNS}
        fields = tuple(f for f in told.rows.row_schema.fields if f.name not in own)
        schema = StructType(fields)
        condition = rule.condition(schema) if rule.conditions else None
        seen = rule.visible(schema)
        asked = condition.names if condition is not None else frozenset()
        read = [*seen.names, *sorted(asked - set(seen.names))]
        request = FeedRequest(versions=(version, version), columns=read)
        scan = FeedScan(opened.store, request)
        return cls(
            scan=scan,
            files=[
                one for group in scan.files(with_sizes=True) for one in _each(group)
            ],
            seen=seen,
            partitions=[n for n in told.rows.partitions if n in seen.names],
            condition=condition,
        )

    @property
    def partition_keys(self) -> list[str]:
        """What partition values of the columns that are seen are called in the log."""
        found = [self.seen.find(name) for name in self.partitions]
        return [column.stored_name for column in found if column is not None]

    @property
    def is_one_way(self) -> bool:
        """Whether all rows come, or all go."""
        kinds = {
            None
            if one.tells_kinds
            else dict(one.files["partition_values"][0].as_py())[CHANGE_TYPE]
            for one in self.files
        }
        return len(kinds) <= 1 and None not in kinds

    @property
    def fits(self) -> bool:
        """Whether they can be told: what goes and what comes are compared in memory."""
        size = sum(one.files["size"][0].as_py() or 0 for one in self.files)
        return self.is_one_way or size <= HELD_BYTES

    def write(
        self, changes: PreparedChanges
    ) -> Iterator[tuple[int, pa.Table, WrittenFile]]:
        """Write what may be seen of each file; yield its number, itself, the result."""
        if not self.fits:
            return
        store = store_of(changes.shared_table_id)
        fields = (
            *self.seen.fields,
            *(f for f in FEED_COLUMNS if f.name == CHANGE_TYPE),
        )
        schema = StructType(fields)
        for number, rows in self._rows(schema):
            path = path_of(_key(changes, number))
            written = write_excerpt(
                rows, schema, self.partitions, store=store, path=path
            )
            if written is not None:
                yield number, self.files[number].files, written

    def _rows(
        self, schema: StructType
    ) -> Iterator[tuple[int, Iterator[pa.RecordBatch]]]:
        if self.is_one_way:
            for number in range(len(self.files)):
                yield number, self._seen_rows(number, schema)
            return
        held = [
            batch.append_column(_SOURCE, pa.repeat(pa.scalar(number), batch.num_rows))
            for number in range(len(self.files))
            for batch in self._seen_rows(number, schema)
        ]
        if held:
            left = net_changes(pa.Table.from_batches(held), frozenset({_SOURCE}))
            for number in np.unique(left[_SOURCE].to_numpy()).tolist():
                rows = left.filter(pc.equal(left[_SOURCE], number))
                yield number, iter(rows.drop_columns([_SOURCE]).to_batches())

    def _seen_rows(self, number: int, schema: StructType) -> Iterator[pa.RecordBatch]:
        for batch in self.scan.read(self.files[number]):
            rows = (
                batch
                if self.condition is None
                else batch.filter(self.condition.holds(batch))
            )
            if rows.num_rows:
                yield as_going_and_coming(rows).select(list(schema.names))


def _each(group: ChangedFiles) -> Iterator[ChangedFiles]:
    for row in range(group.files.num_rows):
        yield ChangedFiles(
            group.files.slice(row, 1), group.versions[row : row + 1], group.tells_kinds
        )


def _key(changes: PreparedChanges, number: int) -> str:
    facts = (changes.shared_table_id.hex, changes.rule, changes.version, number)
    return hashed_name("changes", *facts)


# === Offering ===


def offered_range(
    shared: SharedTable, rule: TableRule, versions: VersionRange, *, is_open: bool
) -> VersionRange:
    """Return which versions of a range are ready, all of them from the first one on.

    Args:
        is_open: Whether it ends with the newest version that there is, whichever.
    """
    known = PreparedChanges.objects.filter(shared_table=shared, rule=rule.digest)
    facts = dict(known.order_by("version").values_list("version", "is_ready"))
    newest = max(facts, default=None)
    if newest is None or versions.first < min(facts):
        raise RuledChangesError(table=shared.full_name, since=_since(facts))
    last = min(versions.last, newest) if is_open else versions.last
    if versions.first > newest or last > newest:
        raise VersionNotReadyError(
            table=shared.full_name, version=max(versions.first, newest + 1)
        )
    if not all(facts.get(version) for version in range(versions.first, last + 1)):
        raise RuledChangesError(table=shared.full_name, since=_since(facts))
    return VersionRange(versions.first, last, versions.times)


def _since(facts: dict[int, bool]) -> int | None:
    """Return the version from which on all are ready; None where none is."""
    since = None
    for version in reversed(facts):
        if not facts[version]:
            break
        since = version
    return since


@dataclass(frozen=True, slots=True)
class OfferedChanges:
    """Rewritten files with the changes of a range, as `ChangeSelection` takes them.

    Attributes:
        files: By `FEED_FILES_SCHEMA`, in the order of their versions.
    """

    definitions: Sequence[Definition]
    files: pa.RecordBatch

    def batches(self, first: int | None = None) -> Iterator[pa.RecordBatch]:
        """Yield the files from a version on."""
        if first is None:
            yield self.files
        else:
            yield self.files.filter(pc.greater_equal(self.files["version"], first))


def offered_changes(
    shared: SharedTable,
    rule: TableRule,
    versions: VersionRange,
    definitions: Sequence[Definition],
    *,
    now: datetime,
) -> OfferedChanges:
    """Return the rewritten files with the changes of versions that are ready."""
    found = PreparedFile.objects.filter(
        shared_table=shared,
        rule=rule.digest,
        changes__version__gte=versions.first,
        changes__version__lte=versions.last,
    )
    files = list(found.select_related("changes").order_by("changes__version", "key"))
    note_use(files, now=now)
    of = [file.changes for file in files if file.changes is not None]
    columns = {
        "kind": ["cdc"] * len(files),
        "version": [one.version for one in of],
        "timestamp": [one.made_ms for one in of],
        "path": [path_of(file.key) for file in files],
        "size": [file.size_bytes for file in files],
        "modification_time": [one.made_ms for one in of],
        "partition_values": [[*file.partition_values.items()] for file in files],
    }
    arrays = [
        pa.array(columns[field.name], field.type)
        if field.name in columns
        else pa.nulls(len(files), field.type)
        for field in FEED_FILES_SCHEMA
    ]
    batch = pa.RecordBatch.from_arrays(arrays, schema=FEED_FILES_SCHEMA)
    return OfferedChanges(definitions, batch)
