"""A table whose folder became a way out of the allowed roots is not read."""

from datetime import timedelta
from pathlib import Path

import pytest
from pytest_django.fixtures import Settings

from apps.explorer.commit.actions import commit_actions
from apps.jobs.models import Job
from apps.tables.index.jobs import IndexBatch
from apps.tables.index.probing import probe_tables
from apps.tables.index.refresh import refresh_table
from apps.tables.models import Commit, Table
from apps.tables.work.preview import PREVIEW, Preview
from tests.support.pages.factories import NOW, new_table

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def escaped(settings: Settings, tmp_path: Path, lake: Path) -> Table:
    """A table that has been moved out of the one allowed root, behind a link."""
    settings.HOME = tmp_path / "home"
    root = tmp_path / "root"
    root.mkdir()
    settings.ALLOWED_ROOTS = [str(root)]
    (root / "orders").symlink_to(lake / "orders")
    return new_table("orders", location=str(root / "orders"), version=21)


class TestAWayOut:
    def test_is_not_taken_by_a_preview(self, escaped: Table) -> None:
        job = PREVIEW.request(escaped, Preview(version=21), now=NOW)
        PREVIEW.work(job.id)

        job.refresh_from_db()
        assert job.state == Job.State.FAILED
        assert job.error_code == "location-not-allowed"

    def test_is_not_taken_by_an_index(self, escaped: Table) -> None:
        job = refresh_table(escaped, now=NOW)

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

    def test_is_a_way_like_any_where_no_roots_are_set(self, escaped, settings):
        settings.ALLOWED_ROOTS = None

        assert commit_actions(escaped, Commit(version=3)).problem == ""
