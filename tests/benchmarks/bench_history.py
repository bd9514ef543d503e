"""A history of 100,000 commits into the database: `python -m tests.benchmarks history`.

The rows of a small index, over and over, are stored as the first index of a table, and
then those of one more commit: into SQLite in a file, as `make run` has it, or into the
database that DELTAWEB_DATABASE_URL names. Meanwhile a second connection writes again
and again: the longest that it waits is what everybody else may have to wait.

The goals of storing are processor time: other work on the machine does not change it.
"""

import os
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa

if TYPE_CHECKING:
    from apps.tables.models import Table
    from deltaweb.index.folder.result import IndexResult

COMMITS = 100_000
SMALL = 100  # commits of the index whose rows are repeated
GOAL_FIRST_S = 3.0
GOAL_NEXT_S = 0.3
GOAL_WAIT_S = 2.5
WRITES_EVERY_S = 0.02
NOW = datetime(2026, 11, 21, 12, tzinfo=UTC)


def main() -> None:
    """Measure both and print them beside their goals."""
    os.environ["DJANGO_SETTINGS_MODULE"] = "tests.settings"
    import django

    django.setup()
    from django.core.management import call_command

    from tests.support.pages.factories import new_unindexed_table

    call_command("migrate", verbosity=0)
    missed = 0
    with tempfile.TemporaryDirectory(prefix="deltaweb-history") as folder:
        result = _make_index(Path(folder))
        table = new_unindexed_table("long")
        waits: list[float] = []
        with _others_write(waits):
            spent_s = _store(table, result, COMMITS)
        missed += _row("100,000 commits, first index", spent_s, GOAL_FIRST_S)
        missed += _row("longest wait of another writer", max(waits), GOAL_WAIT_S)
        spent_s = _store(table, result, COMMITS + 1)
        missed += _row("one commit more", spent_s, GOAL_NEXT_S)
    if table.commits.count() != COMMITS + 1:
        sys.exit(f"{table.commits.count():,} commits are stored.")
    table.delete()
    if missed:
        sys.exit(f"{missed} rows missed their goal.")


def _make_index(folder: Path) -> "IndexResult":
    from tests.benchmarks.logs import write_json_log
    from tests.support.index.index_builds import build_index

    location = write_json_log(folder / "log", commits=SMALL, adds=1, removes=0)
    return build_index(str(location), None, folder / "index")


def _store(table: "Table", result: "IndexResult", commits: int) -> float:
    """Store an index of so many commits; return the seconds of this thread."""
    from apps.tables.index.folders import new_index_folder
    from apps.tables.index.results import store_index
    from deltaweb.index.folder.file_index import COMMITS as FILE
    from deltaweb.index.folder.file_index import METADATA, PROTOCOLS

    source = Path(result.folder)
    folder = new_index_folder(table.id, now=NOW, mark=f"n{commits}")
    folder.mkdir(parents=True)
    for name in (METADATA, PROTOCOLS):
        (folder / name).write_bytes((source / name).read_bytes())
    rows = pa.ipc.open_file(source / FILE).read_all()
    long = rows.take(pa.array(np.arange(commits) % SMALL))
    versions = pa.array(np.arange(commits))
    long = long.set_column(0, "version", versions).combine_chunks()
    with pa.ipc.new_file(folder / FILE, long.schema) as writer:
        writer.write_table(long)
    runs = [[0, commits - 1, "READABLE", ""]]
    stored = replace(
        result,
        folder=str(folder),
        version=commits - 1,
        first_commit=0,
        summary={**result.summary, "readable_runs": runs},
    )
    started_s = time.thread_time()
    store_index(table, stored, now=NOW)
    return time.thread_time() - started_s


@contextmanager
def _others_write(waits: list[float]) -> Iterator[None]:
    """Write by a connection of its own all the while; list how long each write took."""
    is_over = threading.Event()

    def write() -> None:
        from django.db import connection

        from apps.tables.models import AllowedRoot

        while not is_over.wait(WRITES_EVERY_S):
            started_s = time.perf_counter()
            AllowedRoot.objects.update(reason="")
            waits.append(time.perf_counter() - started_s)
        connection.close()

    thread = threading.Thread(target=write)
    thread.start()
    try:
        yield
    finally:
        is_over.set()
        thread.join()


def _row(label: str, spent_s: float, goal_s: float) -> int:
    mark = "" if spent_s < goal_s else "   MISSED"
    print(f"{label:40} {spent_s:7.2f} s  below {goal_s:.1f}{mark}", flush=True)
    return bool(mark)
