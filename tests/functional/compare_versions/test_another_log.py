"""Another log where the compared one was: what was found of the old is not shown."""

from pathlib import Path

import pytest
from django.test import Client

from apps.jobs.models import Job
from apps.tables.models import Table
from deltaweb.delta.log.paths import commit_name
from tests.functional.compare_versions.compared_orders import (
    COMPARE,
    orders,
    work,
    write_orders,
)
from tests.support.index.indexed_tables import index_table, new_indexed_table
from tests.support.pages.answers import json_of
from tests.support.tables.versioned_table import VersionedTable

pytestmark = pytest.mark.django_db


@pytest.fixture
def written(tmp_path: Path) -> VersionedTable:
    return write_orders(tmp_path / "orders")


@pytest.fixture
def table(written: VersionedTable) -> Table:
    return new_indexed_table("orders", Path(written.store.root))


class TestATableThatIsMadeAnewAtTheSamePlace:
    @pytest.mark.parametrize("view", ["files", "rows"])
    def test_what_was_found_of_the_old_one_is_not_shown(self, viewer, table, view):
        viewer.get(f"{COMPARE}/1...2?view={view}")
        viewer.post(f"{COMPARE}/1...2/rows")
        work()
        data = json_of(viewer, f"{COMPARE}/1...2.json?view={view}")
        assert data["files"] is not None

        Table.objects.filter(id=table.id).update(delta_id="another log")
        data = json_of(viewer, f"{COMPARE}/1...2.json?view={view}", status=202)

        assert (data["files"], data.get("rows")) == (None, None)
        assert Job.objects.filter(state=Job.State.QUEUED).count() == 1


class TestABackupThatIsPutBack:
    """The log of version 3, with the same metaData.id, went on to another version 4."""

    @pytest.fixture
    def put_back(self, viewer: Client, table: Table, written: VersionedTable) -> Table:
        for versions in ("1...2", "3...4"):
            viewer.get(f"{COMPARE}/{versions}")
            viewer.post(f"{COMPARE}/{versions}/rows")
        work()
        log = Path(written.store.root) / "_delta_log"
        (log / commit_name(4)).unlink()
        written.version = 3
        written.commit(add={"d": orders(200, 230, channel="web")})
        index_table(table)
        return table

    @pytest.mark.usefixtures("put_back")
    @pytest.mark.parametrize("view", ["files", "rows"])
    def test_has_another_comparison_of_a_version_that_is_another(self, viewer, view):
        address = f"{COMPARE}/3...4.json?view={view}"
        first = json_of(viewer, address, status=202)
        viewer.post(f"{COMPARE}/3...4/rows")
        work()
        data = json_of(viewer, address)

        assert (first["files"], first.get("rows")) == (None, None)
        assert (data["files"]["added"], data["files"]["removed"]) == (1, 0)
        if view == "rows":
            assert (data["rows"]["inserted"], data["rows"]["deleted"]) == (30, 0)

    @pytest.mark.usefixtures("put_back")
    def test_keeps_the_comparison_of_versions_that_are_the_same(self, viewer: Client):
        data = json_of(viewer, f"{COMPARE}/1...2.json?view=rows")

        assert (data["rows"]["inserted"], data["rows"]["deleted"]) == (5, 7)
        assert not Job.objects.filter(state=Job.State.QUEUED).exists()
