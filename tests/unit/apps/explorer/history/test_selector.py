from datetime import UTC, date, datetime, timedelta
from zoneinfo import ZoneInfo

import pytest

from apps.explorer.history import selector as history
from apps.explorer.history.form import HistoryFilter
from apps.explorer.history.selector import changed_parts, moves_files
from apps.tables.models import Commit, Table
from tests.support import cases
from tests.support.pages.factories import new_commit, new_table

pytestmark = [pytest.mark.django_db, pytest.mark.database]
DAY = datetime(2026, 11, 20, 12, tzinfo=UTC)


@pytest.fixture
def table() -> Table:
    """Versions 0 to 5: one a day, and two on the last day."""
    table = new_table(version=5)
    operations = ["CREATE TABLE", "WRITE", "MERGE", "WRITE", "OPTIMIZE", "WRITE"]
    for version, operation in enumerate(operations):
        new_commit(
            table,
            version,
            operation=operation,
            user_name="" if version == 0 else "etl",
            sentence=f"Commit {version} on order_id.",
            committed_at=DAY + timedelta(days=min(version, 4), minutes=version),
        )
    return table


def versions(table: Table, **fields: object) -> list[int]:
    wanted = HistoryFilter(**fields)  # type: ignore[arg-type]  # any field of it
    commits, _ = history.commit_page(history.commits_until(table, None), wanted)
    return [commit.version for commit in commits]


class TestCommitPage:
    def test_is_newest_first(self, table: Table) -> None:
        assert versions(table) == [5, 4, 3, 2, 1, 0]

    def test_filters(self, table: Table) -> None:
        assert versions(table, operations=("WRITE", "MERGE")) == [5, 3, 2, 1]
        assert versions(table, user_name="etl", before=3) == [2, 1]
        assert versions(table, text="commit 4") == [4]
        assert versions(table, text="%") == []

    def test_both_ends_of_a_day_belong_to_it(self, table: Table) -> None:
        day = (DAY + timedelta(days=4)).date()

        assert versions(table, first_day=day, last_day=day) == [5, 4]
        assert versions(table, last_day=date.max) == [5, 4, 3, 2, 1, 0]

    def test_tells_where_the_next_page_starts(self, table, monkeypatch):
        monkeypatch.setattr(history, "PAGE_LENGTH", 4)
        until = history.commits_until(table, None)

        _, following = history.commit_page(until, HistoryFilter())
        second, end = history.commit_page(until, HistoryFilter(before=following))

        assert [commit.version for commit in second] == [1, 0]
        assert end is None

    def test_an_older_version_has_its_own_history(self, table: Table) -> None:
        commits, _ = history.commit_page(
            history.commits_until(table, 2), HistoryFilter()
        )

        assert [commit.version for commit in commits] == [2, 1, 0]


class TestDailyCounts:
    def test_counts_by_day_and_family(self, table: Table) -> None:
        days, families = history.daily_counts(
            table, up_to=DAY + timedelta(days=5), num_days=4
        )

        assert days[0] == date(2026, 11, 22)
        assert {family.name: c for family, c in families.items()} == {
            "WRITE": (0, 1, 1, 0),
            "MERGE": (1, 0, 0, 0),
            "OPTIMIZE": (0, 0, 1, 0),
        }

    @cases(
        "wanted, num_commits",
        {
            "no filter": (HistoryFilter(), 6),
            "words of none": (HistoryFilter(text="no such words"), 0),
            "an operation": (HistoryFilter(operations=("MERGE",)), 1),
            "days to come": (HistoryFilter(first_day=date.max), 0),
            "all days": (HistoryFilter(first_day=date.min), 6),
        },
    )
    def test_counts_what_a_filter_lets_pass(self, table, wanted, num_commits):
        _, families = history.daily_counts(
            table, up_to=DAY + timedelta(days=5), wanted=wanted
        )

        assert sum(map(sum, families.values())) == num_commits

    @cases(
        "first_day, expected",
        {
            "as asked for": (date(2026, 11, 24), date(2026, 11, 24)),
            "a year at most": (date(2000, 1, 1), date(2025, 11, 25)),
            "the last days without one": (None, date(2026, 10, 12)),
        },
    )
    def test_begins_with_the_first_day_that_is_asked_for(
        self, table: Table, first_day: date | None, expected: date
    ) -> None:
        wanted = HistoryFilter(first_day=first_day)

        days, _ = history.daily_counts(
            table, up_to=DAY + timedelta(days=5), wanted=wanted
        )

        assert days[0] == expected
        assert days[-1] == (DAY + timedelta(days=5)).date()

    def test_a_commit_after_the_end_does_not_count(self, table: Table) -> None:
        _, families = history.daily_counts(table, up_to=DAY, num_days=3)

        assert [sum(c) for c in families.values()] == [1]


def test_days_are_those_of_the_reader() -> None:
    commits = [
        Commit(version=1, committed_at=datetime(2026, 11, 20, 23, 30, tzinfo=UTC)),
        Commit(version=0, committed_at=datetime(2026, 11, 20, 22, 30, tzinfo=UTC)),
    ]

    groups = history.commits_by_day(commits, ZoneInfo("Europe/Berlin"))

    assert [(day.day, len(commits)) for day, commits in groups] == [(21, 1), (20, 1)]


def test_choices_are_the_most_frequent_first(table: Table) -> None:
    choices = history.history_choices(history.commits_until(table, None))

    assert choices["operations"][0] == ("WRITE", 3)
    assert choices["user_names"] == [("etl", 5)]


def test_the_csv_form_has_every_commit_of_the_filter(table: Table) -> None:
    until = history.commits_until(table, None)

    lines = list(history.commit_rows(until, HistoryFilter(user_name="etl", before=2)))

    assert lines[0][:3] == ("version", "timestamp", "operation")
    assert [line[0] for line in lines[1:]] == [5, 4, 3, 2, 1]


def test_the_csv_form_of_nothing_has_its_header(table: Table) -> None:
    until = history.commits_until(table, None)

    lines = list(history.commit_rows(until, HistoryFilter(text="nowhere")))

    assert [line[0] for line in lines] == ["version"]


@cases(
    "fields, parts",
    {
        "schema": ({"changes_schema": True, "changes_metadata": True}, ["schema"]),
        "properties": ({"changes_metadata": True}, ["properties"]),
        "a property that needs a newer protocol": (
            {"changes_metadata": True, "changes_protocol": True},
            ["properties", "protocol"],
        ),
        "the end of a VACUUM": ({}, []),
        "clustering": ({"operation": "CLUSTER BY"}, ["clustering"]),
        "the first": (
            {"operation": "CREATE TABLE", "changes_metadata": True},
            ["new table"],
        ),
    },
)
def test_a_commit_without_files_tells_what_it_changed(fields, parts):
    commit = Commit(**fields)

    assert not moves_files(commit)
    assert changed_parts(commit) == parts
