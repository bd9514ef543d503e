import os
import time
import uuid
from pathlib import Path

import pytest

from apps.tables.index.folders import (
    INDEX_FORMAT,
    begun_at_ms,
    new_index_folder,
    present_index,
    remove_orphaned_indexes,
    remove_other_indexes,
)
from tests.support import cases
from tests.support.pages.factories import NOW, new_unindexed_table

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("home")]


class TestFolders:
    def test_leave_what_another_worker_is_writing(self, home: Path) -> None:
        table_id = uuid.uuid4()
        folder = home / "index" / str(table_id)
        for name in ("1-5-a", "1-6-b", ".1-7-c.99.ab"):
            (folder / name).mkdir(parents=True)

        remove_other_indexes(table_id, keep="1-6-b")

        assert {place.name for place in folder.iterdir()} == {"1-6-b", ".1-7-c.99.ab"}

    def test_leave_what_another_worker_began_later_until_it_is_old(self, home: Path):
        table_id = uuid.uuid4()
        folder = home / "index" / str(table_id)
        tomorrow_ms = int((time.time() + 86_400) * 1000)
        names = ("1-5-a", "1-6-b", "1-7-c", "1-8-d", f"1-{tomorrow_ms}-e", "other")
        for name in names:
            (folder / name).mkdir(parents=True)
        os.utime(folder / "1-8-d", (0, 0))

        remove_other_indexes(table_id, keep="1-6-b")

        assert {place.name for place in folder.iterdir()} == {"1-6-b", "1-7-c"}

    def test_of_removed_tables_are_removed_once_they_are_old(self, home: Path) -> None:
        table = new_unindexed_table()
        for name in (str(table.id), "old", "fresh"):
            (home / "index" / name).mkdir(parents=True)
        for name in (str(table.id), "old"):
            os.utime(home / "index" / name, (0, 0))

        assert remove_orphaned_indexes() == 1

        left = {place.name for place in (home / "index").iterdir()}
        assert left == {str(table.id), "fresh"}


class TestPresentIndex:
    def test_is_the_folder_that_the_table_names(self) -> None:
        table = new_unindexed_table(index_name=f"{INDEX_FORMAT}-5-a")
        folder = new_index_folder(table.id, now=NOW, mark="b").with_name(
            f"{INDEX_FORMAT}-5-a"
        )
        folder.mkdir(parents=True)

        assert present_index(table) == folder

    @cases(
        "name",
        {
            "no index yet": "",
            "a folder that is gone": f"{INDEX_FORMAT}-6-a",
            "another form": f"{INDEX_FORMAT}0-5-a",
        },
    )
    def test_is_none(self, name: str) -> None:
        table = new_unindexed_table(index_name=name)
        folder = new_index_folder(table.id, now=NOW, mark="b")
        folder.with_name(f"{INDEX_FORMAT}0-5-a").mkdir(parents=True)

        assert present_index(table) is None


@pytest.mark.parametrize(
    ("name", "expected"),
    [("1-500-ab", 500), ("1-500", 500), ("", None), ("1-x-ab", None), ("old", None)],
)
def test_a_folder_tells_when_its_index_was_begun(name: str, expected: int | None):
    assert begun_at_ms(name) == expected
