"""A table whose folder became a way out of the allowed roots is not read."""

from datetime import timedelta
from pathlib import Path

import pytest
from pytest_django.fixtures import Settings

from apps.explorer.selectors.commit import commit_actions
from apps.jobs.models import Job
from apps.tables import services, tasks
from apps.tables.index_jobs import IndexBatch
from apps.tables.models import Commit, Table
from apps.tables.probing import probe_tables
from deltaweb.samples import make_samples
from tests.factories import NOW, new_table

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def escaped(settings: Settings, tmp_path: Path) -> Table:
    """A table that has been moved out of the one allowed root, behind a link."""
    settings.HOME = tmp_path / "home"
    lake, outside = tmp_path / "lake", tmp_path / "outside"
    make_samples(outside, NOW)
    lake.mkdir()
    settings.ALLOWED_ROOTS = [str(lake)]
    (lake / "orders").symlink_to(outside / "orders")
    return new_table("orders", location=str(lake / "orders"), version=21)


class TestAWayOut:
    def test_is_not_taken_by_a_preview(self, escaped: Table) -> None:
        job = services.request_preview(escaped, now=NOW, version=21)
        tasks.preview_rows(job_id=str(job.id))

        job.refresh_from_db()
        assert job.state == Job.State.FAILED
        assert job.error_code == "location-not-allowed"

    def test_is_not_taken_by_an_index(self, escaped: Table) -> None:
        job = services.refresh_table(escaped, now=NOW)

        batch = IndexBatch.take(str(job.id), clock=lambda: NOW)

        job.refresh_from_db()
        assert batch.jobs == []
        assert job.error_code == "location-not-allowed"

    def test_is_not_taken_by_a_probe(self, escaped: Table) -> None:
        probe_tables(now=NOW + timedelta(days=1))

        escaped.refresh_from_db()
        assert escaped.error_code == "location-not-allowed"

    def test_is_not_taken_by_a_page(self, escaped: Table) -> None:
        actions = commit_actions(escaped, Commit(version=3))

        assert "allowed roots" in actions.problem

    def test_is_a_way_like_any_where_no_roots_are_set(
        self, escaped: Table, settings: Settings
    ) -> None:
        settings.ALLOWED_ROOTS = None

        assert commit_actions(escaped, Commit(version=3)).problem == ""
