import pytest

from apps.explorer.history.selector import byte_change, row_change
from apps.explorer.overview.selector import (
    key_numbers,
    overview,
    version_points,
)
from apps.explorer.version.table_version import table_version
from apps.pages.errors import PageError
from apps.tables.models import Commit, Table
from tests.support import cases
from tests.support.pages.factories import (
    new_commit,
    new_metadata,
    new_protocol,
    new_table,
    new_unindexed_table,
    new_user,
)


class TestChanges:
    @cases(
        "fields, rows",
        {
            "nothing removed is no unknown": (
                {"num_added_files": 1, "added_rows": 5, "removed_rows": None},
                5,
            ),
            "no statistics": ({"num_added_files": 1, "added_rows": None}, None),
            "an unknown removal makes all unknown": (
                {
                    "num_added_files": 1,
                    "added_rows": 5,
                    "num_removed_files": 1,
                    "removed_rows": None,
                },
                None,
            ),
            "the difference": (
                {
                    "num_added_files": 1,
                    "added_rows": 5,
                    "num_removed_files": 1,
                    "removed_rows": 7,
                },
                -2,
            ),
            "no files, no rows": ({}, 0),
        },
    )
    def test_rows_are_told_only_where_they_are_known(self, fields, rows):
        assert row_change(Commit(data_change=True, **fields)) == rows

    def test_bytes_are_told_only_where_they_are_known(self) -> None:
        commit = Commit(data_change=True, added_bytes=9)
        assert byte_change(commit) == 9
        commit.num_removed_files = 1
        assert byte_change(commit) is None

    def test_files_that_are_added_again_change_nothing(self) -> None:
        commit = Commit(
            data_change=False, num_added_files=2, added_rows=3, added_bytes=9
        )

        assert row_change(commit) == 0
        assert byte_change(commit) == 0


@pytest.mark.django_db
class TestOverview:
    def table(self, description: str = "") -> Table:
        table = new_table(description=description)
        for version in range(3):
            new_commit(
                table, version, num_files=version + 1, size_bytes=100, num_records=10
            )
        new_metadata(table, 0, configuration={"delta.appendOnly": "true"})
        new_protocol(table, 0, writer_features=["appendOnly"])
        return table

    def test_the_newest_version_is_told_by_the_snapshot(self) -> None:
        self.table()

        numbers = key_numbers(table_version(new_user(), "default", "orders"))

        assert (numbers.num_files, numbers.num_records) == (12, 300)
        assert (numbers.num_readable, numbers.num_versions) == (3, 3)

    def test_an_older_version_is_told_by_its_commit(self) -> None:
        self.table()

        numbers = key_numbers(table_version(new_user(), "default", "orders", "1"))

        assert (numbers.num_files, numbers.num_records) == (2, 10)
        assert numbers.average_file_bytes == 50

    def test_unknown_numbers_stay_unknown(self) -> None:
        table = new_table(num_files=None, size_bytes=None, num_records=None)

        numbers = key_numbers(table_version(new_user(), "default", table.name))

        assert numbers.num_records is None
        assert numbers.average_file_bytes is None
        assert numbers.percent_of_target is None

    def test_shows_metadata_protocol_and_the_newest_commits(self) -> None:
        self.table(description="Orders")

        page = overview(table_version(new_user(), "default", "orders"))

        assert page.description == "Orders"
        assert page.properties == (("delta.appendOnly", "true"),)
        assert [name for name, _ in page.features] == ["appendOnly"]
        assert [commit.version for commit in page.latest] == [2, 1, 0]
        assert page.tree.num_columns == 2

    def test_an_unknown_version_is_a_404_that_names_the_range(self) -> None:
        self.table()
        user = new_user()

        with pytest.raises(PageError, match="from 0 to 2"):
            table_version(user, "default", "orders", "3")

    def test_a_table_without_an_index_has_no_version(self) -> None:
        new_unindexed_table()

        at = table_version(new_user(), "default", "orders")

        assert not at.is_indexed
        assert at.pin == ""

    def test_a_long_history_is_drawn_by_few_points(self) -> None:
        table = new_table(version=1999)
        Commit.objects.bulk_create(
            Commit(table=table, version=v, committed_at=table.created_at, num_records=v)
            for v in range(2000)
        )

        points = version_points(table, 1999)

        assert len(points) <= 400
        assert points[-1].version == 1999
        assert points == sorted(points, key=lambda point: point.version)
