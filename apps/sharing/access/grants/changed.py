"""What rules leave of the changes of versions, rewritten by the same rules as the rows.

Whoever sees a part of a table sees a change of it where a row comes into the part or
goes from it: an update is the row as it was, which goes, and as it is, which comes.
One of which nothing is seen is none. Changes are made ready version by version, from
the one on that was first made ready under the rule; of a version that cannot be, none.
"""

from collections.abc import Sequence
from datetime import datetime
from typing import Final

import pyarrow as pa
from django.db import transaction
from django.db.models import Max, Min

from apps.jobs.running.reports import Reports
from apps.sharing.access.grants.prepared import (
    hashed_name,
    note_use,
    path_of,
    place_of,
)
from apps.sharing.access.grants.rules import TableRule, renamed
from apps.sharing.models import (
    PreparedChanges,
    PreparedFile,
    PreparedVersion,
    SharedTable,
)
from apps.tables.index.engine import Engine
from apps.tables.operations.rows.excerpts import write_excerpts
from apps.tables.storage.opening import roots_of_server, table_place
from deltaweb.delta.changes.errors import RowDiffTooLargeError
from deltaweb.delta.errors import DataFileMissingError, PredicateError, SchemaError
from deltaweb.delta.feed.changed_files import CHANGE_FILE
from deltaweb.delta.feed.changed_rows import FeedRequest, FeedScan
from deltaweb.delta.feed.errors import FeedOffError, FeedSchemaError
from deltaweb.delta.feed.feed_files import FEED_FILES_SCHEMA
from deltaweb.delta.feed.matched_updates import own_columns
from deltaweb.delta.feed.versions import VersionRange, has_feed
from deltaweb.delta.protocol.schema import StructType
from deltaweb.delta.snapshot.state import Definition
from deltaweb.index.query.change_selection import HeldChanges
from deltaweb.index.query.shared_version import SharedVersion
from deltaweb.sharing.errors import RuledChangesError, VersionNotReadyError
from deltaweb.sharing.plain import plain_schema
from deltaweb.storage.place import TablePlace
from deltaweb.table import DeltaTable
from deltaweb.writer.excerpts import EXCERPT, KIND, ChangeExcerpts, numbered

# What no later attempt would mend.
_LASTING: Final = (
    DataFileMissingError,
    FeedOffError,
    FeedSchemaError,
    PredicateError,
    RowDiffTooLargeError,
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
    engine: Engine | None,
    now: datetime,
) -> None:
    """Make the changes of versions ready that came since the last ones."""
    since = _last_version(shared, rule)
    if (
        since is None
        or shared.history_start is None
        or not has_feed(newest.metadata)
        or rule.leaves_whole_files(newest)
    ):
        return
    times = opened.commit_times()
    first = max(since + 1, shared.history_start)
    place = table_place(shared.table, roots=roots_of_server())
    for version in range(first, newest.version + 1):
        reports.step(f"Rewriting changes of {shared.full_name}, version {version}")
        made_ms = times.time_ms(version) or 0
        facts = {"shared_table": shared, "rule": rule.digest, "version": version}
        changes = PreparedChanges(**facts, is_ready=False, made_ms=made_ms)
        _prepare_version(changes, rule, place, reports=reports, engine=engine, now=now)


def _last_version(shared: SharedTable, rule: TableRule) -> int | None:
    """Return the version up to which changes are ready, or need not be."""
    facts = {"shared_table": shared, "rule": rule.digest}
    done = PreparedChanges.objects.filter(**facts).aggregate(found=Max("version"))
    if done["found"] is not None:
        return int(done["found"])
    found = PreparedVersion.objects.filter(**facts).aggregate(found=Min("version"))
    return None if found["found"] is None else int(found["found"])


def _prepare_version(  # noqa: PLR0913 (of what, by whom, and who hears)
    changes: PreparedChanges,
    rule: TableRule,
    place: TablePlace,
    *,
    reports: Reports,
    engine: Engine | None,
    now: datetime,
) -> None:
    """Rewrite the changes of a version; they are known once all of them are there."""
    files: list[PreparedFile] = []
    try:
        excerpts, held = _changes_of(changes, rule, place)
        rows = {path: row for row, path in enumerate(held[EXCERPT].to_pylist())}
        stored = excerpts.rows.row_schema
        names = renamed(stored, excerpts.seen, excerpts.partition_columns)
        found = (
            write_excerpts(excerpts, held, reports=reports, wanted=engine)
            if rows
            else ()
        )
        for path, written in found:
            if written is None:
                continue
            row = rows[path]
            values = dict(held["partition_values"][row].as_py() or ())
            made = PreparedFile(
                shared_table=changes.shared_table,
                changes=changes,
                kind=held[KIND][row].as_py(),
                key=_key(changes, row),
                rule=changes.rule,
                source_path=held["path"][row].as_py(),
                num_rows=written.num_rows,
                size_bytes=written.size,
                partition_values={new: values.get(old) for old, new in names.items()},
                prepared_at=now,
                last_used_at=now,
            )
            files.append(made)
        changes.is_ready = True
    except _LASTING:
        files = []  # they are refused by name
    with transaction.atomic():
        changes.save()
        PreparedFile.objects.bulk_create(files)


def _changes_of(
    changes: PreparedChanges, rule: TableRule, place: TablePlace
) -> tuple[ChangeExcerpts, pa.Table]:
    """Look at the changes of a version: what is to be written, and of which files."""
    store, versions = place.open(), (changes.version, changes.version)
    told = FeedScan(store, FeedRequest(versions=versions)).rows
    own = own_columns(told.row_schema.names)
    schema = StructType(tuple(f for f in told.row_schema.fields if f.name in own))
    condition = rule.condition(schema) if rule.conditions else None
    seen = rule.visible(schema)
    request = FeedRequest(versions=versions, columns=seen.names, predicate=condition)
    scan = FeedScan(store, request)
    files = numbered([*scan.files(with_sizes=True)])
    paths = [path_of(_key(changes, number)) for number in range(files.num_rows)]
    excerpts = ChangeExcerpts(
        place=place,
        rows=scan.rows,
        seen=plain_schema(seen) if rule.is_plain else seen,
        partition_columns=tuple(n for n in told.partitions if n in seen.names),
        target=place_of(changes.shared_table_id),
    )
    return excerpts, files.append_column(EXCERPT, pa.array(paths, pa.string()))


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
        raise _not_rewritten(shared, rule, _since(facts))
    last = min(versions.last, newest) if is_open else versions.last
    if versions.first > newest or last > newest:
        raise VersionNotReadyError(
            table=shared.full_name, version=max(versions.first, newest + 1)
        )
    if not all(facts.get(version) for version in range(versions.first, last + 1)):
        raise _not_rewritten(shared, rule, _since(facts))
    return VersionRange(versions.first, last, versions.times)


def _not_rewritten(
    shared: SharedTable, rule: TableRule, since: int | None
) -> RuledChangesError:
    is_plain = rule.is_whole
    return RuledChangesError(table=shared.full_name, since=since, is_plain=is_plain)


def _since(facts: dict[int, bool]) -> int | None:
    """Return the version from which on all are ready; None where none is."""
    since = None
    for version in reversed(facts):
        if not facts[version]:
            break
        since = version
    return since


def offered_changes(  # noqa: PLR0913 (of what, for whom, and how)
    shared: SharedTable,
    rule: TableRule,
    versions: VersionRange,
    definitions: Sequence[Definition],
    *,
    with_feed: bool,
    now: datetime,
) -> HeldChanges:
    """Return the rewritten files with the changes of versions that are ready.

    Args:
        with_feed: As `ChangesQuery`. Files that were added hold rows that came, those
            that were removed rows that went.
    """
    found = PreparedFile.objects.filter(
        shared_table=shared,
        rule=rule.digest,
        changes__version__gte=versions.first,
        changes__version__lte=versions.last,
    )
    files = list(found.select_related("changes").order_by("changes__version", "key"))
    note_use(files, now=now)
    of = [file.changes for file in files if file.changes is not None]
    for file, one in zip(files, of, strict=True):
        if not with_feed and not file.kind:  # it was rewritten before that was known
            raise _not_rewritten(shared, rule, one.version + 1)
    columns = {
        "kind": [CHANGE_FILE if with_feed else file.kind for file in files],
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
    return HeldChanges(definitions, [batch])
