import pytest

from apps.tables.versions.states import (
    changed_runs,
    update_archived,
    update_readability,
)
from tests.support import cases
from tests.support.pages.factories import new_commit, new_table

pytestmark = pytest.mark.database

READABLE, GONE, PARTLY = ("READABLE", ""), ("GONE", "cleaned"), ("PARTLY", "vacuum")


class TestChangedRuns:
    @cases(
        "before, after, expected",
        {
            "nothing is stored": ([], [(0, 9, *READABLE)], []),
            "the same": ([(0, 9, *READABLE)], [(0, 9, *READABLE)], []),
            "new commits alone": ([(0, 9, *READABLE)], [(0, 12, *READABLE)], []),
            "a clean-up": (
                [(0, 9, *READABLE)],
                [(0, 4, *GONE), (5, 12, *READABLE)],
                [(0, 4, *GONE)],
            ),
            "a second clean-up": (
                [(0, 4, *GONE), (5, 9, *READABLE)],
                [(0, 6, *GONE), (7, 9, *READABLE)],
                [(5, 6, *GONE)],
            ),
            "a vacuum": (
                [(0, 2, *GONE), (3, 9, *READABLE)],
                [(0, 2, *GONE), (3, 7, *PARTLY), (8, 12, *READABLE)],
                [(3, 7, *PARTLY)],
            ),
            "a backup put back": (
                [(0, 2, *GONE), (3, 5, *PARTLY), (6, 9, *READABLE)],
                [(0, 9, *READABLE)],
                [(0, 2, *READABLE), (3, 5, *READABLE)],
            ),
            "another reason": (
                [(0, 9, "GONE", "cleaned")],
                [(0, 9, "GONE", "broken")],
                [(0, 9, "GONE", "broken")],
            ),
            "fewer now": ([(0, 9, *READABLE)], [(0, 3, *GONE)], [(0, 3, *GONE)]),
        },
    )
    def test_are_the_parts_that_differ(self, before, after, expected):
        stored = [list(run) for run in before]  # as JSON gives them back

        assert changed_runs(stored, after) == expected


@pytest.mark.django_db
class TestStates:
    def test_are_told_of_the_commits_that_are_stored(self) -> None:
        runs = [[0, 4, *READABLE]]
        table = new_table(version=4, summary={"readable_runs": runs})
        for version in (0, 2, 4):
            new_commit(table, version)

        update_readability(table, [[0, 2, "GONE", "x" * 400], [3, 4, *READABLE]])

        found = table.commits.order_by("version").values_list(
            "readability", "readability_reason"
        )
        assert list(found) == [("GONE", "x" * 300)] * 2 + [READABLE]

    def test_of_other_tables_stay(self) -> None:
        other = new_commit(new_table("other"), 0)
        table = new_table("orders")
        new_commit(table, 0)

        update_archived(table, 1)
        update_readability(table, [[0, 2, *GONE]])

        other.refresh_from_db()
        assert (other.is_archived, other.readability) == (False, "READABLE")

    def test_follow_what_the_log_holds(self) -> None:
        table = new_table()
        for version in range(4):
            new_commit(table, version)

        update_archived(table, 3)
        update_archived(table, 2)

        archived = table.commits.filter(is_archived=True)
        assert sorted(archived.values_list("version", flat=True)) == [0, 1]
