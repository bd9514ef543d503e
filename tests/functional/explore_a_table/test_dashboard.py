"""The first page: tables that changed, and failures that can be tried again."""

import re

import pytest
from django.test import Client

from apps.accounts.models import User
from apps.jobs.models import Job
from tests.factories import NOW, new_commit, new_table, new_user
from tests.functional.jobs.jobs_at_work import failed

pytestmark = [pytest.mark.django_db, pytest.mark.database]


def home(role: User.Role = User.Role.VIEWER) -> str:
    client = Client()
    client.force_login(new_user(f"u{role}", role=role))
    return client.get("/").content.decode()


@pytest.mark.parametrize("role", [User.Role.VIEWER, User.Role.EDITOR])
def test_a_table_stands_before_what_it_committed(role: User.Role) -> None:
    table = new_table("own.vacuumed")
    for version in range(10):
        new_commit(table, version, committed_at=NOW, sentence="Deleted 3 files.")

    page = home(role)

    entries = re.findall(r"<article.*?</article>", page, re.DOTALL)
    words = re.sub(r"<[^>]+>|\s+", " ", entries[0])
    assert len(entries) == 1
    assert words.split()[0].startswith("own.")
    assert "v9" in words
    assert "10 commits in 0 ms" in words


def test_a_failure_names_no_place_and_can_be_tried_again() -> None:
    table = new_table("sales.orders", location="/srv/lake/orders")
    for _ in range(3):
        job = failed(
            kind="tables.index_log",
            subject_id=table.id,
            error="/srv/lake/orders/_delta_log/00000000000000000007.json is gone.",
        )

    pages = {role: home(role) for role in (User.Role.VIEWER, User.Role.EDITOR)}

    for page in pages.values():
        assert "3 times" in page
        assert "00000000000000000007.json is gone." in page
        assert "/srv/lake" not in page
    assert "Try again" not in pages[User.Role.VIEWER]
    assert re.search(r"/jobs/[-0-9a-f]+/retry", pages[User.Role.EDITOR])
    assert job.state == Job.State.FAILED


def test_a_viewer_is_told_no_place_by_the_pages_of_jobs() -> None:
    table = new_table("sales.orders", location="/srv/lake/orders")
    job = failed(subject_id=table.id, error="/srv/lake/orders/x.json is gone.")
    client = Client()
    client.force_login(new_user())

    for path in ("/jobs/", "/jobs.json", f"/jobs/{job.id}/", f"/jobs/{job.id}.json"):
        shown = client.get(path).content.decode()
        assert "x.json is gone." in shown
        assert "/srv/lake" not in shown
