"""A job as every machine form names it: pages, lists and commands."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID


@dataclass(frozen=True, slots=True, kw_only=True)
class JobResource:
    """A run of background work.

    Attributes:
        kind: The name of its task.
        subject: Name of what it is about, a table's say; None for nothing.
        subject_url: Where that is shown.
        step: What it does now, or did last.
        requested_by: Name of who asked for it; None for deltaweb itself.
        elapsed_s: Seconds since a worker took it, or that it took; None before.
        attempts: How often a worker took it.
        queue_position: 1 for the next one to be taken; None unless it waits.
        worker_seen_at: When its worker was last heard of; None if unknown.
        error_code: What went wrong; None where nothing did, as the other two.
    """

    id: UUID
    kind: str
    title: str
    state: str
    subject: str | None
    subject_url: str | None
    step: str
    progress_done: int
    progress_total: int | None
    progress_unit: str
    requested_by: str | None
    created_at: datetime
    started_at: datetime | None
    finished_at: datetime | None
    elapsed_s: float | None
    attempts: int
    queue_position: int | None
    worker_seen_at: datetime | None
    cancel_requested_at: datetime | None
    error_code: str | None
    error_message: str | None
    error_hint: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class PageJob(JobResource):
    """A job that a page waits for; its old names are others (`page_json`)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class JobOutcome(JobResource):
    """A job with what it was asked, and what it found.

    Attributes:
        parameters: By name; None for a reader to whom they are not told.
        result: As its kind makes it; None before its end.
    """

    parameters: Mapping[str, Any] | None
    result: Any


@dataclass(frozen=True, slots=True)
class Started:
    """A job that was requested. The header `Location` is its address."""

    job: JobOutcome


@dataclass(frozen=True, slots=True, kw_only=True)
class JobDetail(JobOutcome):
    """A job with how it went.

    Attributes:
        steps: The steps so far, the current one last.
        counters: Named counts, such as files_listed.
        log: The end of what it said.
        result_url: Where its result is shown.
        details: Where the error came from, for editors.
    """

    steps: Sequence[Mapping[str, Any]]
    counters: Mapping[str, int]
    log: str
    result_url: str | None
    details: str | None
