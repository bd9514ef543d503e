"""The rules are run: on a new index, once a day, and when somebody asks."""

import logging
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Final

from django.db.models import Q
from django.utils import timezone

from apps.accounts.models import User
from apps.jobs import kinds
from apps.jobs.kind import JobKind, to_json
from apps.jobs.models import Job
from apps.jobs.running.tracking import TrackedJob
from apps.jobs.services import enqueue
from apps.news.publishing import publish
from apps.tables.extension.health_rules import daily
from apps.tables.health import facts
from apps.tables.health.repeats import running
from apps.tables.health.storing import delete_old_findings, keep_findings
from apps.tables.models import NamespaceThresholds, Table
from apps.tables.models.news import HEALTH
from deltaweb.health.examine import examine
from deltaweb.health.thresholds import Thresholds

DUE_AFTER: Final = timedelta(hours=20)
"""After a look, how long a table waits for that of the next day."""
REST: Final = timedelta(hours=1)
"""Between two daily looks, each of which takes all tables that are due."""
BATCH: Final = 200
log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True, kw_only=True)
class Examined:
    """What a look found.

    Attributes:
        num_tables: Tables that were examined.
        num_findings: Findings that hold for them.
    """

    num_tables: int
    num_findings: int


@dataclass(frozen=True, slots=True, kw_only=True)
class ExamineTables:
    """Which tables are examined.

    Attributes:
        is_all: Whether also those that were examined today.
    """

    is_all: bool = False


def examine_table(
    table: Table, *, now: datetime, thresholds: Thresholds | None = None
) -> int:
    """Run the rules about a table, and keep what they find.

    Args:
        thresholds: Those of its namespace, if they are known already.

    Returns:
        The number of its findings.
    """
    limits = thresholds or thresholds_of(table.namespace)
    found = examine(facts.facts_of(table, now=now), limits, now)
    found = (*found, *facts.findings_of_app(table))
    if not facts.has_owner_here(table):  # its provider may put it right
        found = tuple(replace(one, remedy=None) for one in found)
    keep_findings(table, found, now=now)
    return len(found)


def examine_new_index(table: Table, *, now: datetime) -> None:
    """Run the rules on a new index; an error in a rule does not harm the index."""
    try:
        examine_table(table, now=now)
    except Exception:
        log.exception("The rules failed on %s", table.full_name)
    else:
        publish(HEALTH)


def thresholds_of(namespace: str) -> Thresholds:
    """Return the thresholds for the tables of a namespace."""
    stored = NamespaceThresholds.objects.filter(namespace=namespace).first()
    return Thresholds().changed(stored.values) if stored else Thresholds()


def follow_repeats(*, now: datetime) -> None:
    """Request repeated maintenance that is due, and examine what it has failed at."""
    for table in running.note_ends():
        examine_table(table, now=now)
        publish(HEALTH)
    running.request_due_repeats(now=now)


# === The job ===


def request_examination(*, now: datetime, requested_by: User | None = None) -> Job:
    """Queue a look at every table."""
    return _enqueue(ExamineTables(is_all=True), now=now, requested_by=requested_by)


def request_due_examination(*, now: datetime) -> None:
    """Queue a look at the tables that were not examined today."""
    due = Table.objects.filter(_is_due(now))
    if not due.exists():
        return
    last = Job.objects.filter(kind=EXAMINE.name, created_at__gt=now - REST)
    if not last.exists():
        _enqueue(ExamineTables(), now=now)


def _enqueue(
    asked: ExamineTables, *, now: datetime, requested_by: User | None = None
) -> Job:
    return enqueue(
        kind=EXAMINE.name,
        title="Check the health of tables",
        parameters=to_json(asked),
        key=f"health:{asked.is_all}",
        requested_by=requested_by,
        now=now,
    )


def _is_due(now: datetime) -> Q:
    is_old = Q(health_checked_at=None) | Q(health_checked_at__lt=now - DUE_AFTER)
    return is_old & ~Q(state=Table.State.NEW)


def _run(job: TrackedJob, asked: ExamineTables) -> Examined:
    now = timezone.now()
    tables = Table.objects.all() if asked.is_all else Table.objects.filter(_is_due(now))
    ids = list(tables.order_by("namespace", "name").values_list("id", flat=True))
    limits: dict[str, Thresholds] = {}
    num_findings = 0
    for start in range(0, len(ids), BATCH):
        for table in Table.objects.filter(id__in=ids[start : start + BATCH]):
            if table.namespace not in limits:
                limits[table.namespace] = thresholds_of(table.namespace)
            chosen = limits[table.namespace]
            num_findings += examine_table(table, now=now, thresholds=chosen)
        job.progress(min(start + BATCH, len(ids)), total=len(ids), unit="tables")
    for examine_more in daily:
        examine_more(now)
    delete_old_findings(now=now)
    publish(HEALTH)
    return Examined(num_tables=len(ids), num_findings=num_findings)


EXAMINE: Final = kinds.register(
    JobKind(
        name="tables.examine",
        words="Check the health of tables",
        parameters=ExamineTables,
        result=Examined,
        run=_run,
        is_reserved=True,
    )
)
