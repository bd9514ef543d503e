import os
import uuid
from pathlib import Path

import pytest
from pytest_django.fixtures import Settings

from apps.tables.index_folders import remove_orphaned_indexes, remove_other_indexes
from tests.factories import new_unindexed_table

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def home(settings: Settings, tmp_path: Path) -> Path:
    settings.HOME = tmp_path / "home"
    return tmp_path / "home"


class TestFolders:
    def test_leave_what_another_worker_is_writing(self, home: Path) -> None:
        table_id = uuid.uuid4()
        folder = home / "index" / str(table_id)
        for name in ("1-5-a", "1-6-b", ".1-7-c.99.ab"):
            (folder / name).mkdir(parents=True)

        remove_other_indexes(table_id, keep="1-6-b")

        assert {place.name for place in folder.iterdir()} == {"1-6-b", ".1-7-c.99.ab"}

    def test_of_removed_tables_are_removed_once_they_are_old(self, home: Path) -> None:
        table = new_unindexed_table()
        for name in (str(table.id), "old", "fresh"):
            (home / "index" / name).mkdir(parents=True)
        for name in (str(table.id), "old"):
            os.utime(home / "index" / name, (0, 0))

        assert remove_orphaned_indexes() == 1

        left = {place.name for place in (home / "index").iterdir()}
        assert left == {str(table.id), "fresh"}
