"""Maintenance that is repeated by a schedule: what, when, and how it went last."""

from collections.abc import Mapping
from datetime import UTC, datetime, time, timedelta
from typing import Final, Literal, TypeAlias

from django.conf import settings
from django.db import models

from apps.jobs.models import Job

Every: TypeAlias = Literal[
    "6h",
    "12h",
    "day",
    "monday",
    "tuesday",
    "wednesday",
    "thursday",
    "friday",
    "saturday",
    "sunday",
]
"""How often maintenance is repeated: some hours, each day, or a day of the week."""
DAYS: Final = (
    *("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday"),
)
HOURS: Final[Mapping[str, int]] = {"6h": 6, "12h": 12, "day": 24}
EVERY: Final[Mapping[str, str]] = {
    "6h": "every 6 hours",
    "12h": "every 12 hours",
    "day": "every day",
    **{day: f"{day.capitalize()}s" for day in DAYS},
}
"""The choices, each with its words."""
WEEK: Final = timedelta(days=7)


def next_run(every: str, at: time, *, after: datetime) -> datetime:
    """Return when a schedule is due next.

    Args:
        every: One of `EVERY`.
        at: The time of day in UTC; for some hours, one of the times of a day.
        after: In UTC. The answer is later.
    """
    first = datetime.combine(after.date(), at, tzinfo=UTC) - WEEK
    if every in DAYS:
        first += timedelta(days=(DAYS.index(every) - first.weekday()) % len(DAYS))
        step = WEEK
    else:
        step = timedelta(hours=HOURS[every])
    while first <= after:
        first += step
    return first


def repeat_words(every: str, at: time) -> str:
    """Return a schedule in words: `Sundays at 03:00 UTC`."""
    clock = f"{at:%H:%M} UTC"
    joint = "from" if HOURS.get(every, 24) < HOURS["day"] else "at"
    return f"{EVERY[every]} {joint} {clock}"


class RepeatedOperation(models.Model):
    """An operation on a table that is requested by the clock.

    A run is a job, as if a person had asked for it. The jobs are forgotten after some
    time, so how the last one ended is kept here.
    """

    table = models.ForeignKey(
        "tables.Table", models.CASCADE, related_name="repeated_operations"
    )
    operation = models.CharField(max_length=32)  # `optimize`, as in addresses
    every = models.CharField(max_length=16)
    at = models.TimeField()  # in UTC
    parameters = models.JSONField(default=dict, blank=True)
    due_at = models.DateTimeField(db_index=True)
    created_at = models.DateTimeField()
    created_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, models.SET_NULL, null=True, blank=True
    )
    last_job = models.ForeignKey(Job, models.SET_NULL, null=True, blank=True)
    last_started_at = models.DateTimeField(null=True, blank=True)
    # How that one ended; empty while it waits or runs.
    last_state = models.CharField(max_length=16, blank=True)
    last_result = models.TextField(blank=True)
    failures = models.PositiveIntegerField(default=0)  # in a row

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["table", "operation"], name="repeat_once_of_a_kind"
            )
        ]

    def __str__(self) -> str:
        return f"{self.operation} of {self.table_id}: {self.words}"

    @property
    def words(self) -> str:
        """Its schedule in words."""
        return repeat_words(self.every, self.at)
