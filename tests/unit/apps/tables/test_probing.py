"""New commits are noticed; what fails rests longer each time."""

import shutil
from datetime import timedelta
from pathlib import Path

import pytest
from pytest_django.fixtures import Settings

from apps.jobs.models import Job
from apps.tables.index_folders import new_index_folder
from apps.tables.indexing import store_failure, store_index
from apps.tables.models import Table
from apps.tables.probing import probe_tables
from deltaweb.index.build import build_index
from deltaweb.samples import make_samples
from tests.factories import NOW, new_unindexed_table

pytestmark = pytest.mark.django_db
LATER = NOW + timedelta(minutes=5)


@pytest.fixture
def table(settings: Settings, tmp_path: Path) -> Table:
    """An indexed table of one version, due for a probe at `LATER`."""
    settings.HOME = tmp_path / "home"
    settings.PROBE_INTERVAL_S = 60
    make_samples(tmp_path, NOW)
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
