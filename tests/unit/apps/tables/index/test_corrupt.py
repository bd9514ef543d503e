"""A table whose index is corrupt is indexed again, though nothing is new."""

from pathlib import Path
from typing import Any

import pytest
from pytest_django.fixtures import Settings

from apps.jobs.models import Job
from apps.tables.index.folders import new_index_folder
from apps.tables.index.probing import refresh_corrupt_indexes
from apps.tables.index.results import store_result
from apps.tables.models import Table
from apps.tables.models.schedules import ONLY_WHEN_ASKED_S
from deltaweb.index.folder.file_index import FILES, SUMMARY
from deltaweb.index.folder.manifest import MANIFEST
from tests.support import cases
from tests.support.index.index_builds import build_index
from tests.support.logs.local_logs import RandomLog
from tests.support.pages.factories import NOW, new_unindexed_table

pytestmark = pytest.mark.django_db


@pytest.fixture
def table(settings: Settings, tmp_path: Path) -> Table:
    settings.HOME = tmp_path / "home"
    log = RandomLog(tmp_path, seed=5)
    table = new_unindexed_table(location=log.location, probe_due_at=NOW)
    folder = new_index_folder(table.id, now=NOW, mark="a")
    store_result(table, build_index(log.location, None, folder), now=NOW)
    table.refresh_from_db()
    return table


def folder_of(table: Table) -> Path:
    return new_index_folder(table.id, now=NOW, mark="").with_name(table.index_name)


def _empty(folder: Path) -> None:
    for path in folder.iterdir():
        path.write_bytes(b"")


def _remove(folder: Path) -> None:
    folder.rename(folder.with_name("elsewhere"))


@cases(
    "spoil",
    {
        "empty files": _empty,
        "an empty file": lambda at: (at / FILES).write_bytes(b""),
        "a file that is gone": lambda at: (at / SUMMARY).unlink(),
        "a folder that is gone": _remove,
    },
)
def test_an_index_that_is_not_as_it_was_written_is_made_anew(table, spoil):
    spoil(folder_of(table))

    assert refresh_corrupt_indexes(now=NOW) == 1

    job = Job.objects.get()
    assert (job.kind, job.subject_id) == ("tables.index_log", table.id)


def test_an_index_as_it_was_written_is_left(table: Table) -> None:
    assert refresh_corrupt_indexes(now=NOW) == 0

    (folder_of(table) / MANIFEST).unlink()  # as one of before there were manifests
    assert refresh_corrupt_indexes(now=NOW) == 0


@cases(
    "fields",
    {
        "on demand alone": {"refresh_interval_s": ONLY_WHEN_ASKED_S},
        "that cannot be read": {"error_code": "location-not-found"},
    },
)
def test_a_table_is_left(table: Table, fields: dict[str, Any]) -> None:
    Table.objects.update(**fields)
    _remove(folder_of(table))

    assert refresh_corrupt_indexes(now=NOW) == 0
