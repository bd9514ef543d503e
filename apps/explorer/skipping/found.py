"""A condition that is explained: by the index, or by a job that replays the log."""

from collections.abc import Hashable, Iterator, Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np
import pyarrow as pa
from django.utils import timezone

from apps.accounts.models import User
from apps.explorer.version.table_version import TableVersion, table_columns
from apps.jobs.models import Job
from apps.jobs.results import JobRows, job_table
from apps.tables.index.explained import IndexedFiles, explained
from apps.tables.work.explain_filter import (
    BOUNDS,
    COUNT_ROW_GROUPS,
    EXPLAIN_FILTER,
    ExplainFilter,
)
from deltaweb.index.left_row_groups import MAX_FOOTERS, LeftRowGroups
from deltaweb.index.query.explained_files import explained_files, file_bounds
from deltaweb.index.query.funnel import Explanation, Funnel
from deltaweb.index.query.questions import Question


class ExplainedFiles(Protocol):
    """The files of a version, each with its reason."""

    @property
    def key(self) -> Hashable:
        """The parts that identify the version and the condition."""

    def listed(
        self,
        *,
        reasons: Sequence[int] | None = None,
        first: int = 0,
        limit: int | None = None,
    ) -> Iterator[pa.RecordBatch]:
        """Yield files; see `deltaweb.index.query.explained_files`."""

    def bounds(self) -> pa.Table | None:
        """Return the table of `file_bounds`; None if it is gone."""


@dataclass(frozen=True, slots=True, eq=False)
class FilesOfIndex:
    """The files of the newest version, by its index."""

    explanation: Explanation
    files: IndexedFiles

    @property
    def key(self) -> Hashable:
        return (*self.files.key, self.explanation.question.sql)

    def listed(
        self,
        *,
        reasons: Sequence[int] | None = None,
        first: int = 0,
        limit: int | None = None,
    ) -> Iterator[pa.RecordBatch]:
        """Yield files with their reasons."""
        return explained_files(
            self.explanation,
            self.files.parts,
            reasons=reasons,
            first=first,
            limit=limit,
        )

    def bounds(self) -> pa.Table:
        """Return the table of `file_bounds`."""
        return file_bounds(self.explanation, self.files.parts)


@dataclass(frozen=True, slots=True, eq=False)
class FilesOfJob:
    """The files of any version, as a job has kept them."""

    job: Job
    rows: pa.Table

    @property
    def key(self) -> Hashable:
        return str(self.job.id)

    def listed(
        self,
        *,
        reasons: Sequence[int] | None = None,
        first: int = 0,
        limit: int | None = None,
    ) -> Iterator[pa.RecordBatch]:
        """Yield files with their reasons."""
        rows = self.rows
        if reasons is not None:
            wanted = np.isin(rows["reason"].to_numpy(), reasons)
            rows = rows.take(pa.array(np.flatnonzero(wanted)[first:][:limit]))
        elif first or limit is not None:
            rows = rows.slice(first, limit)
        yield from rows.to_batches()

    def bounds(self) -> pa.Table | None:
        """Return what the job has kept of `file_bounds`; None if it is gone."""
        return job_table(self.job, BOUNDS)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class ExplainedFilter:
    """A condition at a version.

    Attributes:
        question: The condition.
        job: What explains it; None if the index does.
        funnel, files: None while the job is at it.
    """

    question: Question
    job: Job | None = None
    funnel: Funnel | None = None
    files: ExplainedFiles | None = None


def explained_filter(
    at: TableVersion, asked: ExplainFilter, user: User, *, waits: bool
) -> ExplainedFilter | None:
    """Explain a condition; None if the columns of the version are unknown.

    Args:
        waits: Whether to wait for a job, as a download does.

    Raises:
        ExpressionMistakenError: If it is not a condition over these columns.
    """
    schema = table_columns(at)
    if schema is None or at.metadata is None:
        return None
    question = Question(asked.where, schema, at.metadata.as_action(), asked.time_zone)
    if at.is_latest:
        found = explained(at.table, at.version, schema, asked.where, asked.time_zone)
        if found is not None:
            return ExplainedFilter(
                question=question,
                funnel=found[0].funnel,
                files=FilesOfIndex(*found),
            )
    job, kept = EXPLAIN_FILTER.answer(
        at.table, asked, now=timezone.now(), requested_by=user, waits=waits
    )
    return ExplainedFilter(
        question=question,
        job=job,
        funnel=kept.facts if kept else None,
        files=FilesOfJob(job, kept.rows) if kept else None,
    )


def row_groups_of(
    at: TableVersion, asked: ExplainFilter, funnel: Funnel, user: User
) -> tuple[Job | None, JobRows[LeftRowGroups] | None]:
    """Return the job that counts row groups, and what it has found.

    No job is queued if more than `MAX_FOOTERS` files are left.
    """
    if funnel.after_statistics.num_files > MAX_FOOTERS:
        return None, None
    return COUNT_ROW_GROUPS.answer(
        at.table, asked, now=timezone.now(), requested_by=user
    )
