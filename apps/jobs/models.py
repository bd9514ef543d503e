"""Runs of background work: the row is the truth, a broker message only a wake-up."""

import uuid
from datetime import datetime
from typing import ClassVar

from django.conf import settings
from django.db import models
from django.db.models import Q

from deltaweb.environment.logs import requested_by_id


class JobQuerySet(models.QuerySet["Job"]):
    """Queries over jobs."""

    def active(self) -> "JobQuerySet":
        """Jobs that wait or run."""
        return self.filter(state__in=Job.ACTIVE_STATES)

    def finished_before(self, moment: datetime) -> "JobQuerySet":
        """Finished jobs that were asked for before `moment`."""
        return self.exclude(state__in=Job.ACTIVE_STATES).filter(created_at__lt=moment)

    def waiting(self) -> "JobQuerySet":
        """Queued jobs in the order in which workers take them."""
        return self.filter(state=Job.State.QUEUED).order_by("created_at", "id")


JobManager = models.Manager.from_queryset(JobQuerySet)


class Job(models.Model):
    """One run of background work.

    A worker takes a queued job by a lease that it renews; a job whose lease has run
    out is queued again by a sweep, so a killed worker or a lost message loses nothing.
    """

    class State(models.TextChoices):
        """Where a job stands."""

        QUEUED = "QUEUED", "queued"
        RUNNING = "RUNNING", "running"
        DONE = "DONE", "done"
        FAILED = "FAILED", "failed"
        CANCELLED = "CANCELLED", "cancelled"

    ACTIVE_STATES: ClassVar = (State.QUEUED, State.RUNNING)
    MAX_ATTEMPTS: ClassVar = 3  # a job that kills its workers must come to an end

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    kind = models.CharField(max_length=64)  # the task's name, such as tables.index_log
    subject_id = models.UUIDField(null=True, blank=True, db_index=True)  # a table's id
    title = models.CharField(max_length=300)
    parameters = models.JSONField(default=dict, blank=True)
    # Equal keys ask for equal work: one active job a key; a finished one is its cache.
    key = models.CharField(max_length=200, blank=True)
    requested_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, models.SET_NULL, null=True, blank=True
    )
    # Jobs that a job starts have its request id; scheduled jobs have a new one.
    request_id = models.CharField(max_length=64, blank=True, default=requested_by_id)

    state = models.CharField(max_length=16, choices=State, default=State.QUEUED)
    step = models.CharField(max_length=200, blank=True)
    progress_done = models.BigIntegerField(default=0)
    progress_total = models.BigIntegerField(null=True, blank=True)
    progress_unit = models.CharField(max_length=32, blank=True)
    # [{"name", "started_at", "finished_at"}], and named counts such as files_listed.
    steps = models.JSONField(default=list, blank=True)
    counters = models.JSONField(default=dict, blank=True)
    log = models.TextField(blank=True)

    created_at = models.DateTimeField()
    woken_at = models.DateTimeField(null=True, blank=True)  # the last wake-up sent
    started_at = models.DateTimeField(null=True, blank=True)
    finished_at = models.DateTimeField(null=True, blank=True)
    attempts = models.PositiveSmallIntegerField(default=0)
    lease_owner = models.CharField(max_length=200, blank=True)
    lease_expires_at = models.DateTimeField(null=True, blank=True)
    cancel_requested_at = models.DateTimeField(null=True, blank=True)

    error_code = models.CharField(max_length=64, blank=True)
    error = models.TextField(blank=True)
    error_hint = models.TextField(blank=True)
    error_detail = models.TextField(blank=True)
    result = models.JSONField(null=True, blank=True)

    objects = JobManager()

    class Meta:
        ordering = ["-created_at"]
        indexes = [
            models.Index(fields=["state", "created_at"], name="job_state_created"),
            models.Index(fields=["-created_at"], name="job_newest_first"),
            models.Index(fields=["kind", "-created_at"], name="job_kind_newest"),
            models.Index(fields=["key"], name="job_key"),
        ]
        constraints = [
            models.UniqueConstraint(
                fields=["key"],
                condition=Q(state__in=["QUEUED", "RUNNING"]) & ~Q(key=""),
                name="job_one_active_a_key",
            )
        ]

    def __str__(self) -> str:
        return f"{self.title} ({self.id})"

    # === Queries ===

    @property
    def is_active(self) -> bool:
        return self.state in self.ACTIVE_STATES

    @property
    def can_be_retried(self) -> bool:
        """Whether the work ended without a result."""
        return self.state in {self.State.FAILED, self.State.CANCELLED}

    @property
    def percent(self) -> int | None:
        """How much is done, from 0 to 100; None while the total is unknown."""
        if not self.progress_total:
            return None
        return min(100, 100 * self.progress_done // self.progress_total)


class Worker(models.Model):
    """A worker process and when it was last heard of.

    Attributes:
        queues: Names of the queues that it takes jobs from; none tell of all.
    """

    name = models.CharField(max_length=200, primary_key=True)
    queues = models.JSONField(default=list, blank=True)
    started_at = models.DateTimeField()
    seen_at = models.DateTimeField(db_index=True)

    def __str__(self) -> str:
        return self.name
