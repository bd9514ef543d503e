from datetime import timedelta

import pytest

from apps.accounts.models import User
from apps.explorer.selectors.dashboard import dashboard
from apps.jobs.models import Job
from tests.factories import NOW, new_commit, new_job, new_table, new_user

pytestmark = pytest.mark.django_db


def test_an_empty_install_is_empty() -> None:
    page = dashboard(new_user(), NOW)

    assert page.is_empty
    assert (page.size_bytes, page.num_running) == (0, 0)


def test_what_a_viewer_may_not_know_counts_nowhere() -> None:
    new_commit(new_table("secret", restricted=True), sentence="Wrote a secret.")
    new_commit(new_table("orders"))
    editor = new_user("eve", role=User.Role.EDITOR)

    seen, known = dashboard(new_user(), NOW), dashboard(editor, NOW)

    assert (seen.num_tables, known.num_tables) == (1, 2)
    assert [commit.table.name for commit in seen.commits] == ["orders"]
    assert seen.size_bytes == known.size_bytes // 2


def test_failures_are_forgotten_after_a_week() -> None:
    editor = new_user("eve", role=User.Role.EDITOR)
    for days in (1, 8):
        new_job(state=Job.State.FAILED, finished_at=NOW - timedelta(days=days))
    new_job(state=Job.State.QUEUED)

    page = dashboard(editor, NOW)

    assert (page.num_failed, len(page.failed)) == (1, 1)
    assert (page.num_running, len(page.running)) == (1, 1)
