"""Which operations can be repeated, and a schedule as every machine form has it."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Final

from django.urls import reverse

from apps.jobs.models import Job
from apps.pages.page_json import OnPage
from apps.tables.models import RepeatedOperation, Table
from deltaweb.words import length_text

LABELS: Final[Mapping[str, str]] = {
    "optimize": "Optimize",
    "vacuum": "Vacuum",
    "checkpoint": "Checkpoint",
    "cleanup": "Clean up the log",
}
"""What can be repeated: names in addresses and commands, and on pages."""
HOUR_S: Final = 3600


@dataclass(frozen=True, slots=True, kw_only=True)
class RepeatResource:
    """Maintenance of a table by a schedule.

    Attributes:
        operation: `optimize`, `vacuum`, `checkpoint` or `cleanup`.
        every: `6h`, `12h`, `day`, or a day of the week.
        at: The time of day in UTC, such as `03:00`.
        keep_hours: How long a vacuum keeps removed files; null for the table's
            setting, and for other operations.
        words: The schedule in words.
        due_at: The time of the next run.
        last_started_at: The time of the last run; null before the first one.
        last_state: How it ended: `DONE`, `FAILED` or `CANCELLED`; null until then.
        last_result: What it did, or why it failed.
        last_job: The id of its job, which is kept for 30 days.
        failures: Failures in a row.
    """

    table: str
    operation: str
    every: str
    at: str
    keep_hours: float | None
    words: str
    due_at: datetime
    last_started_at: datetime | None
    last_state: str | None
    last_result: str
    last_job: str | None
    failures: int
    label: OnPage[str]

    @property
    def keep_words(self) -> str:
        """How long a vacuum keeps removed files, in words; "" for no span."""
        if self.keep_hours is None:
            return ""
        return f"keep {length_text(round(self.keep_hours * HOUR_S))}"

    @property
    def job_url(self) -> str:
        """The page of the last job; "" without one."""
        return reverse("jobs:job-detail", args=[self.last_job]) if self.last_job else ""

    @property
    def is_failed(self) -> bool:
        return self.last_state == Job.State.FAILED


def repeat_resource(repeat: RepeatedOperation) -> RepeatResource:
    """Return a schedule as pages, commands and scripts show it."""
    parameters: Mapping[str, float] = repeat.parameters
    return RepeatResource(
        table=repeat.table.full_name,
        operation=repeat.operation,
        every=repeat.every,
        at=f"{repeat.at:%H:%M}",
        keep_hours=parameters.get("hours"),
        words=repeat.words,
        due_at=repeat.due_at,
        last_started_at=repeat.last_started_at,
        last_state=repeat.last_state or None,
        last_result=repeat.last_result,
        last_job=str(repeat.last_job_id) if repeat.last_job_id else None,
        failures=repeat.failures,
        label=LABELS[repeat.operation],
    )


def repeats_of(table: Table) -> list[RepeatResource]:
    """Return the schedules of a table."""
    found = table.repeated_operations.select_related("table").order_by("operation")
    return [repeat_resource(one) for one in found]
