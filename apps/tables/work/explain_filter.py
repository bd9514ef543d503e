"""The files and row groups that a condition reads, at any version."""

from dataclasses import dataclass
from functools import partial
from typing import Final

from apps.jobs import kinds
from apps.jobs.models import Job
from apps.jobs.results import keep_rows
from apps.jobs.running.tracking import TrackedJob
from apps.tables.models import Table
from apps.tables.models.subjects import Page, on_table, table_of
from apps.tables.storage.opening import open_table, roots_of_server
from apps.tables.work.table_look import TableLook
from deltaweb.index.left_row_groups import (
    LEFT_GROUPS,
    LeftRowGroups,
    added_up,
    left_row_groups,
)
from deltaweb.index.query.explained_files import (
    EXPLAINED,
    explained_files,
    file_bounds,
)
from deltaweb.index.query.file_part import FilePart
from deltaweb.index.query.funnel import Explanation, Funnel, explain_snapshot
from deltaweb.table import DeltaTable
from deltaweb.words import cut

BOUNDS: Final = ".bounds.arrow"
"""Ends the name of the second file of rows."""
MAX_TITLE: Final = 120
"""Characters of a condition in the title of its job."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ExplainFilter:
    """The condition that is explained.

    Attributes:
        where: The condition in SQL.
        time_zone: Whose clocks show the times without a zone.
    """

    version: int
    where: str
    time_zone: str


def explain_filter(job: TrackedJob, asked: ExplainFilter) -> Funnel:
    """Explain a condition by the log.

    The job's rows are those of `explained_files` for every file, and its rows `BOUNDS`
    those of `file_bounds`.
    """
    found, parts, _opened = _explained(job, asked)
    keep_rows(job.id, EXPLAINED, explained_files(found, parts))
    bounds = file_bounds(found, parts)
    keep_rows(job.id, bounds.schema, bounds.to_batches(), suffix=BOUNDS)
    return found.funnel


def count_row_groups(job: TrackedJob, asked: ExplainFilter) -> LeftRowGroups:
    """Read the footers of the files that a condition leaves.

    The job's rows are `LEFT_GROUPS`.
    """
    found, parts, opened = _explained(job, asked)
    job.step("Reading the footers")
    groups = left_row_groups(
        found, parts, opened.store.open_data_file, job.progress_of("files")
    )
    keep_rows(job.id, LEFT_GROUPS, groups.to_batches())
    return added_up(groups)


def _explained(
    job: TrackedJob, asked: ExplainFilter
) -> tuple[Explanation, list[FilePart], DeltaTable]:
    opened = open_table(table_of(job), roots=roots_of_server())
    snapshot = opened.snapshot_metadata(asked.version)
    found, parts = explain_snapshot(snapshot, opened.root, asked.where, asked.time_zone)
    return found, parts, opened


def _page(job: Job) -> Page:
    asked = {"v": job.parameters["version"], "where": job.parameters["where"]}
    return "explorer:skipping-detail", (), asked


def _page_with_groups(job: Job) -> Page:
    name, parts, asked = _page(job)
    return name, parts, {**asked, "row_groups": 1}


def _title(verb: str, table: Table, asked: ExplainFilter) -> str:
    return (
        f"{verb} {cut(asked.where, MAX_TITLE)} in {table.full_name}"
        f" at version {asked.version}"
    )


EXPLAIN_FILTER: Final = kinds.register(
    TableLook(
        name="tables.explain_filter",
        words="Explain a filter",
        parameters=ExplainFilter,
        result=Funnel,
        title=partial(_title, "Explain"),
        first_step="Replaying the log",
        is_apart=True,
        run=explain_filter,
        page=on_table(_page),
    )
)
COUNT_ROW_GROUPS: Final = kinds.register(
    TableLook(
        name="tables.count_row_groups",
        words="Count row groups of a filter",
        parameters=ExplainFilter,
        result=LeftRowGroups,
        title=partial(_title, "Count row groups of"),
        first_step="Replaying the log",
        is_apart=True,
        run=count_row_groups,
        page=on_table(_page_with_groups),
    )
)
