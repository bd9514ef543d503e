"""The rows that a rule shows, counted as a job where statistics do not prove them."""

import json
from dataclasses import dataclass
from datetime import datetime
from typing import Final, Self

from apps.accounts.models import User
from apps.jobs import kinds
from apps.jobs.kind import JobKind, hashed_key, to_json
from apps.jobs.models import Job
from apps.jobs.running.tracking import TrackedJob
from apps.jobs.services import enqueue
from apps.jobs.waiting import wait_a_glance
from apps.sharing.access.grants.rule_preview import (
    FirstRows,
    first_rows,
    newest_version,
    num_seen_rows,
)
from apps.sharing.access.grants.rules import TableRule
from apps.tables.models import Table
from apps.tables.models.subjects import table_of
from deltaweb.index.query.classification import classify


@dataclass(frozen=True, slots=True, kw_only=True)
class SeenRows:
    """Which rows are counted.

    Attributes:
        rule: The conditions, the columns and the values that the conditions use, as
            JSON: equal for recipients whose values are equal.
    """

    version: int
    rule: str

    @classmethod
    def of(cls, rule: TableRule, version: int) -> Self:
        """Return the parameters for a rule."""
        columns = None if rule.columns is None else sorted(rule.columns)
        text = json.dumps([rule.conditions, columns, rule.asked])
        return cls(version=version, rule=text)

    def table_rule(self) -> TableRule:
        """Return the rule."""
        conditions, columns, asked = json.loads(self.rule)
        return TableRule(
            tuple(conditions),
            None if columns is None else frozenset(columns),
            {name: value for name, value in asked.items() if value is not None},
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class SeenRowsFound:
    """How many rows a rule shows, and the first of them."""

    num_rows: int
    first: FirstRows


def look_at_rows(
    table: Table, rule: TableRule, version: int, *, now: datetime, requested_by: User
) -> tuple[Job, SeenRowsFound | None]:
    """Return the job that counts the rows of a rule, queued if need be, and its result.

    A job that was requested just now is waited for a moment. One that failed stays the
    answer until somebody retries it, so that a page that is reloaded does not fail
    again and again.
    """
    asked = SeenRows.of(rule, version)
    key = hashed_key(SEEN_ROWS.name, str(table.id), table.delta_id, to_json(asked))
    newest = Job.objects.filter(kind=SEEN_ROWS.name, key=key).order_by("-created_at")
    if (job := newest.first()) is not None and job.can_be_retried:
        return job, None
    job = enqueue(
        kind=SEEN_ROWS.name,
        title=f"Count the rows of {table.full_name} that recipients see",
        parameters={"table_id": str(table.id), **to_json(asked)},
        subject_id=table.id,
        key=key,
        requested_by=requested_by,
        now=now,
        reuse=True,
    )
    if wait_a_glance(job):
        job.refresh_from_db()
    return job, SEEN_ROWS.found(job)


def _run(job: TrackedJob, asked: SeenRows) -> SeenRowsFound:
    job.step("Counting the rows")
    version = newest_version(table_of(job), asked.version)
    rule = asked.table_rule()
    bound = rule.bind(version)
    inside = classify(version, bound.files.of_rows)
    return SeenRowsFound(
        num_rows=num_seen_rows(version, inside, bound, job=job),
        first=first_rows(version, classify(version, bound.files), bound),
    )


SEEN_ROWS: Final = kinds.register(
    JobKind(
        name="sharing.count_seen_rows",
        words="Count the rows that recipients see",
        parameters=SeenRows,
        result=SeenRowsFound,
        run=_run,
        is_apart=True,  # it evaluates what people write over files of others
        is_for_admins=True,
        is_look=True,
    )
)
