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
        kind: The kind of job.
        subject: The name of the table or other object of the job; null if there is
            none.
        subject_url: The page of this object.
        step: The current step, or the last one.
        requested_by: The name of the user who requested the job; null if deltaweb
            started it.
        elapsed_s: Seconds since the job started, or its duration; null before it
            starts.
        attempts: How often a worker has started the job.
        queue_position: The position in the queue, from 1; null if the job does not
            wait.
        worker_seen_at: The last time its worker reported; null if unknown.
        error_code: The code of the error; null without one, as are the next two fields.
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
        parameters: The parameters by name; null if the caller may not see them.
        result: The result; its keys depend on the kind. Null until the job ends.
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
        steps: The steps so far; the last one is the current step.
        counters: Counters by name, such as `files_listed`.
        log: The last lines of the log.
        result_url: The page that shows the result.
        details: Where the error occurred; only editors see it.
        request_id: The id of the request that started it, as in `X-Request-Id` and in
            logs; only administrators see it. Work by the clock has an id of its own.
    """

    steps: Sequence[Mapping[str, Any]]
    counters: Mapping[str, int]
    log: str
    result_url: str | None
    details: str | None
    request_id: str | None
