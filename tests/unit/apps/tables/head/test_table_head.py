from datetime import date, datetime, timedelta

import pytest

from apps.jobs.models import Job
from apps.tables.head.table_head import table_head
from apps.tables.index.refresh import REFRESH, refresh_table
from tests.support.pages.factories import (
    NOW,
    new_commit,
    new_job,
    new_table,
    new_unindexed_table,
)

pytestmark = pytest.mark.django_db


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

    @pytest.mark.parametrize(("stored", "is_watched"), [(3, True), (2, False)])
    def test_watches_an_index_that_ended_after_the_table_was_read(
        self, stored: int, *, is_watched: bool
    ) -> None:
        job = new_job(
            kind=REFRESH.name,
            subject_id=(table := new_table("orders")).id,
            state=Job.State.DONE,
            finished_at=NOW + timedelta(seconds=1),
            result={"version": stored, "state": "INDEXED"},
        )

        assert table_head(table).index_job == (job if is_watched else None)

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
