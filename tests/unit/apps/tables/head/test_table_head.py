from datetime import date, datetime

import pytest
from django.contrib.auth.models import AnonymousUser

from apps.accounts.models import User
from apps.jobs.models import Job
from apps.pages.errors import PageError
from apps.tables.head.table_head import get_table, requested_version, table_head
from apps.tables.index.refresh import refresh_table
from tests.support.pages.factories import (
    NOW,
    new_commit,
    new_table,
    new_unindexed_table,
    new_user,
)

pytestmark = pytest.mark.django_db


class TestGetTable:
    def test_finds_a_table_by_its_two_names(self) -> None:
        table = new_table("sales.orders")

        assert get_table(new_user(), "sales", "orders") == table

    @pytest.mark.parametrize("name", ["nothing", "secret", "a\x00b"])
    def test_says_the_same_of_a_missing_and_of_a_hidden_table(self, name: str) -> None:
        new_table("secret", restricted=True)

        with pytest.raises(PageError) as caught:
            get_table(new_user(), "default", name)

        assert caught.value.status == 404
        assert caught.value.code == "table-not-found"
        assert caught.value.message == f"No table is named {name}."

    def test_shows_restricted_tables_to_editors(self) -> None:
        table = new_table("secret", restricted=True)

        assert get_table(new_user(role=User.Role.EDITOR), "default", "secret") == table

    def test_shows_nothing_to_strangers(self) -> None:
        new_table("orders")

        with pytest.raises(PageError):
            get_table(AnonymousUser(), "default", "orders")


class TestRequestedVersion:
    def test_is_the_newest_where_none_is_asked_for(self) -> None:
        assert requested_version(new_table("orders"), "") == 2

    @pytest.mark.parametrize("text", ["0", "1", "2", " 2 "])
    def test_takes_every_version_that_was(self, text: str) -> None:
        assert requested_version(new_table("orders"), text) == int(text)

    @pytest.mark.parametrize(
        "text", ["3", "-1", "1.5", "latest", "9" * 40, "²", "\x00", "1e3", "0x1"]
    )
    def test_names_the_range_for_everything_else(self, text: str) -> None:
        with pytest.raises(PageError) as caught:
            requested_version(new_table("orders"), text)

        assert caught.value.status == 404
        assert caught.value.hint == "Choose a version from 0 to 2."

    def test_says_why_a_table_has_no_version_at_all(self) -> None:
        why = {"error": "Commit 1 is missing.", "error_hint": "Bring it back."}
        table = new_unindexed_table("orders", **why)

        with pytest.raises(PageError) as caught:
            requested_version(table, "0")

        assert caught.value.message.endswith("be indexed: Commit 1 is missing.")
        assert caught.value.hint == "Bring it back."

    def test_a_log_that_starts_later_has_no_earlier_version(self) -> None:
        table = new_table(
            "orders", version=12, summary={"readable_runs": [[10, 12, "READABLE", ""]]}
        )

        with pytest.raises(PageError, match="from 10 to 12"):
            requested_version(table, "9")

    def test_a_table_that_is_not_indexed_has_none(self) -> None:
        with pytest.raises(PageError, match="not indexed"):
            requested_version(new_unindexed_table("orders"), "0")


class TestTableHead:
    def test_shows_the_newest_version_and_its_commit(self) -> None:
        table = new_table("orders")
        commits = [new_commit(table, version) for version in range(3)]

        head = table_head(table)

        assert head.version == 2
        assert head.is_latest
        assert head.commit == commits[2]
        assert [commit.version for commit in head.newest] == [2, 1, 0]

    def test_says_how_far_an_old_version_is_behind(self) -> None:
        table = new_table("orders", version=40, summary={})
        for version in range(41):
            new_commit(table, version)

        head = table_head(table, 30)

        assert not head.is_latest
        assert head.commits_behind == 10
        assert head.commit is not None
        assert head.commit.version == 30

    @pytest.mark.parametrize(
        ("first_at", "last_at", "formats"),
        [
            ("2026-01-01", "2026-11-20", ("j M", "j M")),
            ("2026-11-20", "2026-11-20", ("j M, H:i", "H:i")),
            ("2025-12-31", "2026-11-20", ("j M Y", "j M Y")),
            ("2021-02-03", "2021-11-20", ("j M Y", "j M Y")),
            ("2021-11-20", "2021-11-20", ("j M Y, H:i", "H:i")),
        ],
    )
    def test_dates_tell_a_year_that_is_not_the_present_one(
        self, first_at: str, last_at: str, formats: tuple[str, str]
    ) -> None:
        first, last = (
            datetime.fromisoformat(f"{day}T12:00:00Z") for day in (first_at, last_at)
        )
        table = new_table("orders", committed_at=last)
        new_commit(table, 0, committed_at=first)

        head = table_head(table)

        assert head.date_formats(today=date(2026, 11, 21)) == formats

    def test_shows_a_version_whose_commit_is_not_in_the_log(self) -> None:
        head = table_head(new_table("orders"))

        assert head.version == 2
        assert head.commit is None

    def test_a_new_table_has_the_job_that_indexes_it(self) -> None:
        table = new_unindexed_table("orders")
        job = refresh_table(table, now=NOW)

        head = table_head(table)

        assert head.version is None
        assert head.timeline is None
        assert head.index_job == job
        assert head.failed_job is None

    def test_a_failure_counts_until_another_attempt(self) -> None:
        table = new_unindexed_table("orders")
        refresh_table(table, now=NOW)
        Job.objects.update(state=Job.State.FAILED)

        assert table_head(table).failed_job is not None
        refresh_table(table, now=NOW)
        assert table_head(table).failed_job is None

    def test_is_stale_while_storage_holds_more(self) -> None:
        assert table_head(new_table("orders", latest_version_seen=5)).stale
        assert not table_head(new_table("items")).stale

    def test_asks_the_database_twice_once_it_is_shown(self, django_assert_num_queries):
        table = new_table("orders", version=200, summary={})
        for version in range(201):
            new_commit(table, version)

        with django_assert_num_queries(0):  # a part of a page has no head
            head = table_head(table, 100)
            assert head.timeline is not None
            assert not head.is_latest

        with django_assert_num_queries(2):
            assert head.commit is not None
            assert head.first_at is not None
            assert len(head.ticks) == 5
            assert len(head.newest) == 8
            assert head.missing is None
            assert (head.index_job, head.failed_job, head.check_job) == (None,) * 3
