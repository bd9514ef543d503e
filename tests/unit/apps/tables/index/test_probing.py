"""New commits are noticed; what fails rests longer each time."""

import os
import shutil
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path

import pytest
from pytest_django.fixtures import Settings

from apps.jobs.models import Job
from apps.tables.index.folders import new_index_folder
from apps.tables.index.probing import probe_tables
from apps.tables.index.results import store_failure, store_index
from apps.tables.models import Table
from deltaweb.delta.log.paths import commit_name
from deltaweb.delta.log.store import FileStatus
from deltaweb.storage.local import LocalTableStore
from tests.support import cases
from tests.support.index.index_builds import build_index
from tests.support.index.indexed_tables import index_table, new_indexed_table
from tests.support.logs.dated_log import DatedLog
from tests.support.pages.factories import NOW, new_table, new_unindexed_table

pytestmark = [pytest.mark.django_db, pytest.mark.slow]
LATER = NOW + timedelta(minutes=5)
SOON = LATER + timedelta(seconds=1)


@pytest.fixture
def table(settings: Settings, tmp_path: Path, lake: Path) -> Table:
    """An indexed table of one version, due for a probe at `LATER`."""
    settings.HOME = tmp_path / "home"
    settings.PROBE_INTERVAL_S = 60
    shutil.copytree(lake / "returns", tmp_path / "returns")
    table = new_unindexed_table("returns", location=str(tmp_path / "returns"))
    folder = new_index_folder(table.id, now=NOW, mark="a")
    store_index(table, build_index(table.location, None, folder), now=NOW)
    return table


def log(table: Table) -> Path:
    return Path(table.location, "_delta_log")


def probe(table: Table) -> None:
    probe_tables(now=LATER)
    table.refresh_from_db()


class TestProbeTables:
    def test_notes_that_a_table_answered(self, table: Table) -> None:
        probe(table)

        assert table.probed_at == LATER
        assert table.probe_due_at == LATER + timedelta(seconds=60)
        assert not Job.objects.exists()

    def test_asks_each_table_again_as_its_own_schedule_says(self, table: Table) -> None:
        same_log = {"location": table.location, "version": 0}
        for name, interval_s in (("often", 30), ("daily", 86_400), ("asked", 0)):
            new_table(name, refresh_interval_s=interval_s, **same_log)

        looked_at = probe_tables(now=LATER)

        rests = {
            known.name: int((known.probe_due_at - LATER).total_seconds())
            for known in Table.objects.exclude(name="asked")
        }
        assert rests == {"returns": 60, "often": 30, "daily": 86_400}
        assert looked_at == len(rests)
        assert Table.objects.get(name="asked").probed_at is None

    def test_leaves_alone_what_is_refreshed_only_when_asked(self, table: Table) -> None:
        shutil.rmtree(table.location)
        Table.objects.update(refresh_interval_s=0)

        looked_at = probe_tables(now=LATER)

        table.refresh_from_db()
        assert (looked_at, table.probed_at, table.error_code) == (0, NOW, "")

    @cases(
        "interval_s, seconds",
        {
            "twice its interval": (600, 1200),
            "never less than its interval": (86_400, 86_400),
        },
    )
    def test_a_table_that_fails_rests_by_its_own_schedule(
        self, table: Table, interval_s: int, seconds: int
    ) -> None:
        Table.objects.update(refresh_interval_s=interval_s)
        shutil.rmtree(table.location)

        probe(table)

        assert table.probe_due_at == LATER + timedelta(seconds=seconds)

    def test_keeps_a_schedule_that_is_chosen_while_it_looks(self, table, monkeypatch):
        Table.objects.update(refresh_interval_s=86_400, version=7, probe_failures=1)
        status = LocalTableStore.status

        def choose(store: LocalTableStore, name: str) -> FileStatus:
            Table.objects.update(refresh_interval_s=30, probe_due_at=SOON)
            return status(store, name)

        monkeypatch.setattr(LocalTableStore, "status", choose)

        probe(table)

        assert table.latest_version_seen == 0
        assert table.probe_due_at == SOON

    def test_leaves_tables_that_are_not_due(self, table: Table) -> None:
        looked_at = probe_tables(now=NOW)

        table.refresh_from_db()
        assert (looked_at, table.probed_at) == (0, NOW)

    def test_queues_an_index_of_a_new_commit(self, table: Table) -> None:
        shutil.copy(log(table) / f"{0:020d}.json", log(table) / f"{1:020d}.json")

        probe(table)

        job = Job.objects.get()
        assert (job.kind, job.subject_id) == ("tables.index_log", table.id)
        assert table.latest_version_seen == 1
        assert table.is_stale

    def test_queues_one_index_however_often_it_looks(self, table: Table) -> None:
        (log(table) / f"{1:020d}.json").write_text("{}\n")
        probe(table)

        Table.objects.update(probe_due_at=LATER)
        probe(table)

        assert Job.objects.count() == 1

    def test_notes_a_table_that_is_gone_and_keeps_its_index(self, table: Table) -> None:
        shutil.rmtree(table.location)

        probe(table)

        assert table.error_code in {"location-not-found", "not-a-delta-table"}
        assert table.error
        assert table.error_since == LATER
        assert (table.state, table.version) == (Table.State.INDEXED, 0)
        assert table.probe_due_at == LATER + timedelta(seconds=120)

    def test_forgets_the_error_when_the_table_is_back(self, table: Table) -> None:
        store_failure(table.id, code="location-gone", message="m", hint="h", now=NOW)

        Table.objects.update(probe_due_at=LATER)
        probe(table)

        assert (table.error_code, table.error, table.error_since) == ("", "", None)
        assert table.probe_failures == 0

    def test_notices_a_table_that_was_made_anew(self, table: Table) -> None:
        Table.objects.update(version=7, latest_version_seen=7)

        probe(table)

        assert table.latest_version_seen == 0
        assert Job.objects.count() == 1

    def test_tries_a_table_again_that_never_was_indexed(self, table: Table) -> None:
        broken = new_unindexed_table("broken", location=table.location)
        Table.objects.filter(id=table.id).delete()
        store_failure(broken.id, code="log-gap", message="m", hint="h", now=NOW)

        probe(broken)

        assert Job.objects.filter(subject_id=broken.id).count() == 1
        assert broken.error_code == "log-gap"
        assert broken.probe_due_at == LATER + timedelta(seconds=120)


@pytest.fixture
def dated(settings: Settings, tmp_path: Path) -> DatedLog:
    """Ten versions of a table that is indexed and due for a probe at `LATER`."""
    settings.HOME = tmp_path / "home"
    log = DatedLog(tmp_path / "lake").write(0, 9)
    new_indexed_table("orders", Path(log.location))
    Table.objects.update(probe_due_at=LATER)
    return log


def probe_again() -> Table:
    Table.objects.update(probe_due_at=LATER)
    probe_tables(now=LATER)
    return Table.objects.get()


def made_anew(last: int) -> Callable[[DatedLog], object]:
    def make(log: DatedLog) -> None:
        shutil.rmtree(log.folder)
        DatedLog(log.folder, table_id="anew", writer="another").write(0, last)

    return make


def put_back(log: DatedLog) -> None:
    """Take the log to what a backup of version 5 held."""
    for version in range(6, 10):
        (log.log / commit_name(version)).unlink()


def rewrite_in_place(log: DatedLog) -> None:
    """Change a word of the newest commit; its size stays, its time does not."""
    path = log.log / commit_name(9)
    path.write_bytes(path.read_bytes().replace(b"Append", b"append"))


class TestALogThatIsAnother:
    @cases(
        "change, version",
        {
            "made anew with fewer versions": (made_anew(4), 4),
            "made anew with as many": (made_anew(9), 9),
            "made anew with more": (made_anew(12), 12),
            "put back from a backup": (put_back, 5),
            "its newest commit rewritten": (rewrite_in_place, 9),
        },
    )
    def test_is_indexed_anew_and_then_left_in_peace(self, dated, change, version):
        change(dated)

        table = probe_again()

        assert Job.objects.get().kind == "tables.index_log"
        assert table.latest_version_seen == version
        result = index_table(table)
        assert result.is_rewritten
        assert table.version == version
        assert table.commits.count() == version + 1
        Job.objects.all().delete()
        probe_again()
        probe_again()
        assert not Job.objects.exists()

    def test_is_not_one_whose_old_commits_were_cleaned(self, dated: DatedLog) -> None:
        dated.clean_up(6)

        probe_again()

        assert not Job.objects.exists()

    def test_is_not_one_whose_newest_commit_is_a_checkpoint_alone(self, dated):
        dated.clean_up(9)
        (dated.log / commit_name(9)).unlink()

        table = probe_again()

        assert not Job.objects.exists()
        assert (table.version, table.error_code) == (9, "")

    def test_that_was_only_touched_is_read_once(self, dated: DatedLog) -> None:
        os.utime(dated.log / commit_name(9), (5, 5))
        index_table(probe_again())
        assert Job.objects.count() == 1
        Job.objects.all().delete()

        table = probe_again()
        probe_again()

        assert not Job.objects.exists()
        assert table.commit_file_ms == 5000

    def test_stays_noticed_until_it_is_indexed(self, dated: DatedLog) -> None:
        (dated.log / commit_name(9)).write_bytes(b"{torn")
        table = probe_again()
        index_table(table)
        Job.objects.all().delete()

        table = probe_again()

        assert Job.objects.count() == 1
        assert table.error_code
        assert (table.version, table.commits.count()) == (9, 10)

    @pytest.mark.usefixtures("dated")
    def test_costs_two_questions_to_storage(self, monkeypatch: pytest.MonkeyPatch):
        asked: list[str] = []
        status = LocalTableStore.status

        def note(store: LocalTableStore, name: str) -> FileStatus:
            asked.append(name)
            return status(store, name)

        monkeypatch.setattr(LocalTableStore, "status", note)

        probe_again()

        assert asked == [commit_name(10), commit_name(9)]
