"""Kinds of jobs that look at one file of a table, the same in every version."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TypeVar

import pyarrow as pa

from apps.jobs.kind import hashed_key, to_json
from apps.jobs.models import Job
from apps.jobs.running.tracking import TrackedJob
from apps.tables.models import Table
from apps.tables.models.subjects import Page, table_of
from apps.tables.storage.opening import open_table, roots_of_server
from apps.tables.work.table_look import TableLook
from deltaweb.delta.scan.data_file import reading
from deltaweb.parquet.errors import ParquetError

P = TypeVar("P")
R = TypeVar("R")
SHOWN_NAME_LENGTH = 80
FORM = 3
"""Of the results: those of an older form are not looked for."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LookedAtFile:
    """Which file is looked at.

    Attributes:
        size: Its bytes, as the log says.
        modified: Milliseconds since the epoch, likewise.
        version: A version that has it, for the way back to its page.
    """

    path: str
    size: int
    modified: int
    version: int


@dataclass(frozen=True, slots=True, kw_only=True)
class FileLook(TableLook[P, R]):
    """A look at one file; its path, size and time name the result, and no version."""

    def key(self, table: Table, parameters: P) -> str:
        """Return what equal work has in common."""
        asked = {**to_json(parameters), "version": None, "form": FORM}
        return hashed_key(self.name, asked, str(table.id), table.location)


@contextmanager
def opened_file(job: TrackedJob, asked: LookedAtFile) -> Iterator[pa.NativeFile]:
    """Open the file that a job looks at."""
    opened = open_table(table_of(job), roots=roots_of_server(), is_waited_for=True)
    found: ParquetError | None = None
    with reading(asked.path), opened.store.open_data_file(asked.path) as source:
        try:
            yield source
        except ParquetError as error:  # its own words say more than those of rows
            found = error
    if found is not None:
        raise found


def page_of_file(job: Job) -> Page:
    """Return the page of the file that a job looks at."""
    folder, _, name = str(job.parameters["path"]).rpartition("/")
    query = {"folder": folder} if folder else {}
    version = job.parameters["version"]
    return "explorer:file-detail", (name,), {**query, "v": version}


def title_of(verb: str, table: Table, asked: LookedAtFile) -> str:
    """Return what a job is called in lists."""
    name = asked.path.rpartition("/")[2][:SHOWN_NAME_LENGTH]
    return f"{verb} {name} of {table.full_name}"
