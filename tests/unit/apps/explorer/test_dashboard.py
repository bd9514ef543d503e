from datetime import timedelta

import pytest

from apps.accounts.models import User
from apps.explorer.dashboard import dashboard_of, latest_commits
from apps.jobs.models import Job
from apps.tables.models import Table
from tests.support.pages.factories import NOW, new_commit, new_job, new_table, new_user

pytestmark = [pytest.mark.django_db, pytest.mark.database]


def test_an_empty_install_is_empty() -> None:
    page = dashboard_of(new_user(), NOW)

    assert page.is_empty
    assert (page.size_bytes, page.num_running) == (0, 0)


def test_what_a_viewer_may_not_know_counts_nowhere() -> None:
    new_commit(new_table("secret", is_private=True), sentence="Wrote a secret.")
    new_commit(new_table("orders"))
    admin = new_user("ada", role=User.Role.ADMIN)

    seen, known = dashboard_of(new_user(), NOW), dashboard_of(admin, NOW)

    assert (seen.num_tables, known.num_tables) == (1, 2)
    assert [latest.commit.table.name for latest in seen.latest] == ["orders"]
    assert seen.size_bytes == known.size_bytes // 2


def test_failures_are_forgotten_after_a_week() -> None:
    editor = new_user("eve", role=User.Role.EDITOR)
    for days in (1, 8):
        new_job(state=Job.State.FAILED, finished_at=NOW - timedelta(days=days))
    new_job(state=Job.State.QUEUED)

    page = dashboard_of(editor, NOW)

    assert (page.num_failed, len(page.failures)) == (1, 1)
    assert (page.num_running, len(page.running)) == (1, 1)


class TestLatestCommits:
    def test_a_busy_table_has_one_entry_that_counts_its_commits(self) -> None:
        busy, quiet = new_table("own.busy"), new_table("own.quiet")
        for version in range(10):
            new_commit(
                busy, version, committed_at=NOW + timedelta(milliseconds=100 * version)
            )
        new_commit(busy, 10, committed_at=NOW + timedelta(seconds=1))
        new_commit(quiet, committed_at=NOW - timedelta(days=3))

        latest = dashboard_of(new_user(), NOW).latest

        assert [
            (one.commit.table.name, one.commit.version, one.num_commits, one.span_s)
            for one in latest
        ] == [("busy", 10, 11, 1.0), ("quiet", 0, 1, 0.0)]

    def test_older_commits_do_not_count(self) -> None:
        table = new_table()
        for version, days in enumerate((9, 2, 0)):
            new_commit(table, version, committed_at=NOW - timedelta(days=days))

        (latest,) = dashboard_of(new_user(), NOW).latest

        assert (latest.commit.version, latest.num_commits) == (2, 1)

    def test_asks_as_often_for_many_tables_as_for_one(self, django_assert_num_queries):
        user = new_user()
        for number in range(12):
            new_commit(new_table(f"t{number}"))

        with django_assert_num_queries(3):
            assert len(latest_commits(user)) == 8


class TestFailures:
    @pytest.fixture
    def editor(self) -> User:
        return new_user("eve", role=User.Role.EDITOR)

    def test_are_one_entry_a_table(self, editor: User) -> None:
        orders, visits = new_table("sales.orders"), new_table("web.visits")
        for minutes, table in enumerate((orders, visits, orders, orders)):
            self._failed(table, minutes=minutes)

        failures = dashboard_of(editor, NOW).failures

        assert [(one.label, one.count) for one in failures] == [
            ("sales.orders", 3),
            ("web.visits", 1),
        ]
        assert all(one.newest.can_try_again for one in failures)

    def test_leave_out_what_only_fills_a_page(self, editor: User) -> None:
        self._failed(new_table(), kind="tables.preview_rows")

        page = dashboard_of(editor, NOW)

        assert (page.failures, page.num_failed) == ([], 0)

    def test_leave_out_dry_runs_that_were_refused(self, editor: User) -> None:
        table = new_table()
        for kind in ("tables.restore", "tables.clean_up_log"):
            self._failed(table, kind=kind, parameters={"seen": None})
        self._failed(table, kind="tables.restore", parameters={"seen": {"job": "a"}})
        self._failed(table, kind="tables.index_log")

        page = dashboard_of(editor, NOW)

        assert page.num_failed == 2
        assert [(one.count) for one in page.failures] == [2]

    def test_leave_out_what_the_same_work_has_mended(self, editor: User) -> None:
        mended, broken = new_table("mended"), new_table("broken")
        for table in (mended, broken):
            self._failed(table)
        later = NOW + timedelta(minutes=9)
        new_job(
            kind="tables.index_log",
            subject_id=mended.id,
            state=Job.State.DONE,
            created_at=later,
        )
        new_job(
            kind="tables.index_log",
            subject_id=broken.id,
            state=Job.State.QUEUED,
            created_at=later,
        )

        assert [one.label for one in dashboard_of(editor, NOW).failures] == ["broken"]

    def test_name_files_and_no_places(self) -> None:
        table = new_table("sales.orders", location="/srv/lake/orders")
        error = f"{table.location}/_delta_log/00000000000000000007.json is gone."
        self._failed(table, error=error)

        (failures,) = dashboard_of(new_user(), NOW).failures

        assert failures.newest.short_error == "00000000000000000007.json is gone."
        assert not failures.newest.can_try_again

    @staticmethod
    def _failed(table: Table, *, minutes: int = 0, **fields: object) -> None:
        at = NOW + timedelta(minutes=minutes)
        defaults: dict[str, object] = {
            "kind": "tables.index_log",
            "title": f"Index {table.full_name}",
            "subject_id": table.id,
            "state": Job.State.FAILED,
            "created_at": at,
            "finished_at": at,
        }
        new_job(**(defaults | fields))
