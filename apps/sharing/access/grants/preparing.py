"""Rewriting what rules leave of files on their border: once a file, as a job."""

import logging
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final
from uuid import UUID

import pyarrow as pa
from django.db import DatabaseError, DataError
from django.db.models import Q
from django.utils import timezone

from apps.jobs import kinds
from apps.jobs.kind import JobKind, Queue, hashed_key, to_json
from apps.jobs.models import Job
from apps.jobs.running.reports import Reports
from apps.jobs.running.row_texts import storable
from apps.jobs.running.tracking import JobCancelled, TrackedJob
from apps.jobs.services import enqueue
from apps.pages.page_json import IfKnown
from apps.sharing.access.grants import emptied
from apps.sharing.access.grants.changed import prepare_changes
from apps.sharing.access.grants.missing import missing_files, note_plain
from apps.sharing.access.grants.offered import RuledVersion, ruled_version
from apps.sharing.access.grants.prepared import (
    erase_strays,
    erase_without_source,
    path_of,
    place_of,
)
from apps.sharing.access.grants.proof import num_signed_rows, rows_outside
from apps.sharing.access.grants.room import (
    ShareRoom,
    expire,
    tables_without_room,
)
from apps.sharing.access.grants.rules import TableRule, rules_by_table
from apps.sharing.access.schemas import PLAIN, RULED
from apps.sharing.errors import (
    NotPreparedError,
    PreparationFaultError,
    PreparedRoomError,
)
from apps.sharing.models import (
    PreparedFile,
    PreparedVersion,
    Share,
    SharedTable,
)
from apps.tables.index.engine import Engine
from apps.tables.index.folders import index_folder
from apps.tables.operations.rows.excerpts import write_excerpts
from apps.tables.storage.opening import open_table, roots_of_server, table_place
from deltaweb.delta.errors import DeltaError
from deltaweb.delta.values.whole import exact_sum
from deltaweb.index.query.shared_table import SharedTableReader
from deltaweb.sharing.parameters import MAX_LONG
from deltaweb.writer.excerpts import Excerpts

logger = logging.getLogger(__name__)
REST: Final = timedelta(minutes=15)  # after a preparation that failed
MAX_PROBLEM_LENGTH: Final = 2_000  # characters; messages may quote texts of a log


@dataclass(frozen=True, slots=True, kw_only=True)
class PreparedTable:
    """What was made ready of one version of a shared table under one rule.

    Attributes:
        recipients: Those that the rule holds for, by name.
        signed: Count of files that are handed out as they are.
        rewritten: Count of files of which a part is.
        absent: Count of files that are left out.
        num_made: How many files were rewritten just now.
        rows_outside: Rows that are handed out and outside of the rule, by a proof; None
            without one.
    """

    table: str
    recipients: list[str]
    version: int
    signed: int
    rewritten: int
    absent: int
    num_made: int
    size_bytes: int
    rows_outside: int | None


def prepare_share(
    share: Share,
    *,
    reports: Reports,
    engine: Engine | None = None,
    proves: bool = False,
    now: datetime,
) -> list[PreparedTable]:
    """Make the newest version of each table of a share ready, under every rule.

    A table that cannot be prepared stays at the version that recipients read, and says
    why; all others are prepared. Rewritten files are erased if their source is erased,
    if no rule needs them, or if a preparation that was killed left them.

    Args:
        engine: Who rewrites the files; None to choose by their bytes.
        proves: Whether all that recipients get is read, and rows outside are counted.

    Raises:
        NotPreparedError: If a table or rule cannot be; all others are ready then.
    """
    prepared: list[PreparedTable] = []
    failures: list[tuple[str, DeltaError]] = []
    empty_before = _rules_without_rows(share)
    tables = list(share.shared_tables.select_related("share", "table"))
    room = ShareRoom.of(share, {key for one in tables for key in _rule_keys(one)})
    for shared in tables:
        num_failed = len(failures)
        with _held_back(failures, shared.full_name):
            prepared += _prepare_table(
                shared, room, failures, reports, engine, proves=proves, now=now
            )
        if failures[num_failed:]:
            room.kept.add(shared.id)
        _record_failure(shared, failures[num_failed:], now=now)
    _check_room(share, room, failures, now=now)
    if _rules_without_rows(share) != empty_before:
        for follower in emptied:
            follower(now)
    if failures:
        what, first = failures[0]
        raise NotPreparedError(
            what=what,
            reason=first.message,
            advice=first.hint,
            num_others=len(failures) - 1,
        ) from first
    return prepared


def _rule_keys(shared: SharedTable) -> Iterator[tuple[UUID, str]]:
    """Yield the rules of a table as `ShareRoom` has them; none if one is wrong."""
    with suppress(DeltaError):
        yield from ((shared.id, rule.digest) for rule, _ in table_rules(shared))


def _check_room(
    share: Share,
    room: ShareRoom,
    failures: list[tuple[str, DeltaError]],
    *,
    now: datetime,
) -> None:
    """Erase old files; a table has failed if files are erased that it needs."""
    lost = tables_without_room(expire(share, room=room, now=now), room, now=now)
    for shared in share.shared_tables.filter(id__in=lost).select_related("share"):
        failures.append((shared.full_name, PreparedRoomError()))
        _record_failure(shared, failures[-1:], now=now)


def _rules_without_rows(share: Share) -> set[tuple[UUID, str]]:
    """Return the rules whose newest version has no row, each with its shared table."""
    versions = PreparedVersion.objects.filter(shared_table__share=share)
    counts = versions.order_by("version").values_list(
        *("shared_table", "rule", "num_rows")
    )
    newest = {(shared, rule): num_rows for shared, rule, num_rows in counts}
    return {key for key, num_rows in newest.items() if num_rows == 0}


@contextmanager
def _held_back(failures: list[tuple[str, DeltaError]], what: str) -> Iterator[None]:
    """Let the others be made ready where one table or rule cannot be."""
    try:
        yield
    except DeltaError as error:
        failures.append((what, error))
    except JobCancelled:
        raise
    except Exception as error:
        # The values of one table are its own fault, such as a NUL in PostgreSQL. Any
        # other error of the database concerns every table.
        if isinstance(error, DatabaseError) and not isinstance(error, DataError):
            raise
        logger.exception("%s cannot be prepared", what)
        failures.append((what, PreparationFaultError(kind=type(error).__name__)))


def _record_failure(
    shared: SharedTable, failures: list[tuple[str, DeltaError]], *, now: datetime
) -> None:
    """Remember why a table stays at an older version, and since when; or forget it."""
    problem, failed_at = "", None
    if failures:
        what, error = failures[0]
        problem = storable(f"{what}: {error.message} {error.hint}")[:MAX_PROBLEM_LENGTH]
        failed_at = shared.preparation_failed_at or now
    SharedTable.objects.filter(id=shared.id).update(
        preparation_problem=problem, preparation_failed_at=failed_at
    )


def _prepare_table(  # noqa: PLR0913 (as of a share)
    shared: SharedTable,
    room: ShareRoom,
    failures: list[tuple[str, DeltaError]],
    reports: Reports,
    engine: Engine | None,
    *,
    proves: bool,
    now: datetime,
) -> list[PreparedTable]:
    """Make the newest version of a table ready, and erase what is not needed."""
    rules = table_rules(shared)
    if not rules and not shared.prepared_files.exists():
        return []
    opened = open_table(shared.table, roots=roots_of_server())
    version = SharedTableReader().open_version(
        opened, index_folder=index_folder(shared.table)
    )
    reports.step(f"Preparing {shared.full_name}")
    prepared = []
    for held in rules:
        rule, recipients = held
        with _held_back(failures, f"{shared.full_name} for {recipients[0]}"):
            ruled = ruled_version(shared, rule, version)
            if note_plain(shared, rule, ruled, reports, now=now):
                ruled = ruled_version(shared, rule, version)
            facts = (shared, rule, ruled, room)
            made = _rewrite_missing(*facts, reports=reports, engine=engine, now=now)
            room.take(shared, rule, ruled.files())
            versions = (shared, rule, opened, version)
            prepare_changes(*versions, reports=reports, engine=engine, now=now)
            one = _stored(shared, held, ruled, made, proves=proves, now=now)
            prepared.append(one)
    paths: set[str] = set()
    for part, live in version.live_parts():
        paths.update(part.paths.filter(pa.array(live)).to_pylist())
    erase_without_source(shared, opened.store, frozenset(paths))
    erase_strays(shared, now=now)
    return prepared


def table_rules(shared: SharedTable) -> list[tuple[TableRule, list[str]]]:
    """Return the rules of a shared table, with the recipients of each by name."""
    recipients = shared.share.recipients.order_by("name_key")
    return rules_by_table([shared], recipients)[shared.id]


def _rewrite_missing(  # noqa: PLR0913 (what is rewritten, by whom, and who hears)
    shared: SharedTable,
    rule: TableRule,
    ruled: RuledVersion,
    room: ShareRoom,
    *,
    reports: Reports,
    engine: Engine | None,
    now: datetime,
) -> int:
    """Rewrite the files that are not ready; return how many they were."""
    files, keys = missing_files(ruled)
    if not keys:
        return 0
    room.check(shared, rule, ruled, exact_sum(files["size"]))
    bound, source = ruled.bound, ruled.version.snapshot.row_source(files)
    excerpts = Excerpts(
        place=table_place(shared.table, roots=roots_of_server()),
        schema=source.schema,
        partition_columns=tuple(source.partition_columns),
        condition=bound.files.condition,
        seen=bound.schema,
        target=place_of(shared.id),
    )
    names = bound.partition_names(source.schema)
    rows = {path_of(key): row for row, key in enumerate(keys)}
    for path, written in write_excerpts(
        excerpts, files, reports=reports, wanted=engine
    ):
        row = rows[path]
        values = files["partition_values"][row].as_py() or ()
        ruled.ready[keys[row]], _ = PreparedFile.objects.update_or_create(
            key=keys[row],
            defaults={
                "shared_table": shared,
                "rule": rule.digest,
                "source_path": files["path"][row].as_py(),
                "is_stored": False,
                "num_rows": written.num_rows if written else 0,
                "size_bytes": written.size if written else 0,
                "statistics": written.stats if written else "",
                "partition_values": {
                    names[name]: text for name, text in values if name in names
                },
                "prepared_at": now,
                "last_used_at": now,
            },
        )
    return len(keys)


def _stored(  # noqa: PLR0913 (what is prepared, and how)
    shared: SharedTable,
    held: tuple[TableRule, list[str]],
    ruled: RuledVersion,
    made: int,
    *,
    proves: bool,
    now: datetime,
) -> PreparedTable:
    """Remember that a version is ready, and say so."""
    files, (rule, recipients) = ruled.files(), held
    prepared = PreparedTable(
        table=shared.full_name,
        recipients=recipients,
        version=ruled.version.version,
        signed=sum(int(part.signed.sum()) for part in ruled.classified),
        rewritten=sum(file.num_rows > 0 for file in files),
        absent=sum(int(part.absent.sum()) for part in ruled.classified)
        + sum(file.num_rows == 0 for file in files),
        num_made=made,
        size_bytes=sum(file.size_bytes for file in files),
        rows_outside=rows_outside(shared, ruled) if proves else None,
    )
    facts = {
        "num_signed": prepared.signed,
        "num_rewritten": prepared.rewritten,
        "num_absent": prepared.absent,
        "size_bytes": prepared.size_bytes,
        "num_rows": _num_rows(ruled),
        "prepared_at": now,
    }
    if proves:
        facts["num_outside"] = prepared.rows_outside
    PreparedVersion.objects.update_or_create(
        shared_table=shared, rule=rule.digest, version=prepared.version, defaults=facts
    )
    return prepared


def _num_rows(ruled: RuledVersion) -> int | None:
    """Count the rows that recipients read; None if an untouched file does not say."""
    signed = num_signed_rows(ruled.classified)
    if signed is None:
        return None
    total = signed + sum(file.num_rows for file in ruled.files())
    return min(MAX_LONG, total)  # counts are what a log claims


# === As a job ===


@dataclass(frozen=True, slots=True)
class PrepareShare:
    """Which share is made ready."""

    share: str
    proves: bool = False


def request_preparation(share: Share, *, proves: bool = False, now: datetime) -> Job:
    """Queue the preparation of a share; one that waits already is returned."""
    return enqueue(
        kind=PREPARE_SHARE.name,
        title=f"Prepare the share {share.name}",
        parameters=to_json(PrepareShare(str(share.id), proves)),
        key=_key(share, proves=proves),
        now=now,
    )


def _key(share: Share, *, proves: bool) -> str:
    return hashed_key("prepare", str(share.id), proves)


def _keys(share: Share) -> list[str]:
    return [_key(share, proves=proves) for proves in (False, True)]


def preparation_to_show(share: Share) -> Job | None:
    """Return the newest preparation of a share while it is not done."""
    newest = Job.objects.filter(key__in=_keys(share)).order_by("created_at").last()
    return None if newest is None or newest.state == Job.State.DONE else newest


def request_due_preparations(*, now: datetime) -> int:
    """Queue the preparation of every share whose tables have new commits or rules.

    A version counts as known once the table was looked at.

    Returns:
        How many shares.
    """
    shared = SharedTable.objects.filter(RULED | PLAIN, share__off_since__isnull=True)
    due = set()
    for one in shared.select_related("share", "table").distinct():
        newest = one.table.latest_version_seen
        if one.share_id in due or newest is None:
            continue
        try:
            rules = [rule.digest for rule, _ in table_rules(one)]
        except DeltaError:
            continue  # its page says what is wrong with the rule
        ready = one.prepared_versions.filter(version__gte=newest, rule__in=rules)
        is_short = ready.values("rule").distinct().count() < len(rules)
        if is_short or (one.preparation_problem and _is_rested(one.share, now=now)):
            due.add(one.share_id)
            request_preparation(one.share, now=now)
    return len(due)


def _is_rested(share: Share, *, now: datetime) -> bool:
    """Return whether a preparation that failed may be repeated."""
    jobs = Job.objects.filter(key__in=_keys(share))
    return not jobs.filter(Q(finished_at=None) | Q(finished_at__gt=now - REST)).exists()


@dataclass(frozen=True, slots=True, kw_only=True)
class SharePrepared:
    """What was prepared of a share.

    Attributes:
        tables: Its tables.
        files: Files that were written; None of a share that is gone.
    """

    tables: int
    files: IfKnown[int | None] = None


def _run(job: TrackedJob, asked: PrepareShare) -> SharePrepared:
    share = Share.objects.filter(id=UUID(asked.share)).first()
    if share is None:
        return SharePrepared(tables=0)
    prepared = prepare_share(
        share, reports=job, proves=asked.proves, now=timezone.now()
    )
    num_files = sum(one.num_made for one in prepared)
    return SharePrepared(tables=len(prepared), files=num_files)


PREPARE_SHARE: Final = kinds.register(
    JobKind(
        name="sharing.prepare_share",
        words="Prepare a share",
        parameters=PrepareShare,
        result=SharePrepared,
        run=_run,
        queue=Queue.SPARK,  # of many bytes
        is_apart=True,
        is_for_admins=True,
    )
)
