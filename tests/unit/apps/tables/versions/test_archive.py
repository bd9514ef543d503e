"""Commits that a cleaned log has lost are erased when they are old; others never."""

from datetime import timedelta
from pathlib import Path

import pytest
from django.utils import timezone
from pytest_django import Settings

from apps.tables import tasks
from apps.tables.models import Commit, Table
from apps.tables.versions import archive
from deltaweb.delta.log.paths import commit_name
from tests.support.index.indexed_tables import index_table, new_indexed_table
from tests.support.logs.dated_log import DatedLog

pytestmark = [
    pytest.mark.django_db,
    pytest.mark.database,
    pytest.mark.usefixtures("home"),
]


@pytest.fixture
def log(tmp_path: Path) -> DatedLog:
    """Ten versions."""
    return DatedLog(tmp_path / "lake").write(0, 9)


@pytest.fixture
def table(log: DatedLog) -> Table:
    return new_indexed_table("orders", Path(log.location))


def versions(table: Table) -> list[int]:
    return list(table.commits.order_by("version").values_list("version", flat=True))


def test_erases_old_commits_that_the_log_has_lost(
    log: DatedLog, table: Table, monkeypatch: pytest.MonkeyPatch
) -> None:
    log.clean_up(6)
    index_table(table)
    monkeypatch.setattr(archive, "BATCH", 2)
    fourth = table.commits.get(version=4).committed_at

    assert archive.erase_archived(before=fourth) == 4
    assert archive.erase_archived(before=fourth) == 0

    assert versions(table) == [*range(4, 10)]


def test_erased_commits_do_not_come_back_with_newer_ones(
    log: DatedLog, table: Table
) -> None:
    log.clean_up(6)
    index_table(table)
    archive.erase_archived(before=timezone.now() + timedelta(days=9999))

    log.write(10, 11)
    index_table(table)

    assert versions(table) == [*range(6, 12)]
    assert table.metadata_versions.exists()


def test_the_newest_commit_stays_when_the_log_has_lost_it(
    log: DatedLog, table: Table
) -> None:
    log.clean_up(9)
    (log.log / commit_name(9)).unlink()
    index_table(table)

    archive.erase_archived(before=timezone.now() + timedelta(days=9999))

    assert versions(table) == [9]


def test_the_clock_erases_by_the_setting(
    log: DatedLog, table: Table, settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    log.clean_up(6)
    index_table(table)
    Commit.objects.update(committed_at=timezone.now() - timedelta(days=2))
    monkeypatch.setattr(tasks, "CLEAN_INTERVAL_S", -1)

    tasks.probe_due()
    assert table.commits.count() == 10  # without a setting, they stay
    settings.ARCHIVE_DAYS = 1
    tasks.probe_due()

    assert table.commits.count() == 4
