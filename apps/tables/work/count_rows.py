"""The exact number of rows that match a condition, kept by version and condition."""

from dataclasses import dataclass
from typing import Final

from apps.jobs import kinds
from apps.jobs.running.tracking import TrackedJob
from apps.tables.models import Table
from apps.tables.models.subjects import table_of
from apps.tables.storage.opening import open_table, roots_of_server
from apps.tables.work.table_look import TableLook
from deltaweb.delta.protocol.schema import read_columns
from deltaweb.delta.values.time_zones.known import UTC_ZONE


@dataclass(frozen=True, slots=True, kw_only=True)
class CountRows:
    """The rows to count: those for which a condition in SQL is true."""

    version: int
    predicate: str
    time_zone: str = UTC_ZONE


@dataclass(frozen=True, slots=True, kw_only=True)
class CountedRows:
    """The number of rows that match."""

    num_rows: int


def count_rows(job: TrackedJob, asked: CountRows) -> CountedRows:
    """Read the files that may have matching rows, and count these."""
    table = table_of(job)
    opened = open_table(table, roots=roots_of_server(), time_zone=asked.time_zone)
    snapshot = opened.snapshot(asked.version)
    columns = read_columns(snapshot.schema).names[:1]
    num_rows = 0
    for batch in snapshot.scan(columns, asked.predicate):
        num_rows += batch.num_rows
        job.progress(num_rows, unit="rows")
    return CountedRows(num_rows=num_rows)


def _title(table: Table, asked: CountRows) -> str:
    return f"Count rows of {table.full_name} at version {asked.version}"


COUNT: Final = kinds.register(
    TableLook(
        name="tables.count_rows",
        words="Count rows",
        parameters=CountRows,
        result=CountedRows,
        title=_title,
        first_step="Counting rows",
        is_apart=True,
        is_long=lambda _asked: True,
        run=count_rows,
    )
)
