"""The first page: tables that changed, and failures that can be tried again."""

import re

import pytest
from django.test import Client

from apps.accounts.models import User
from apps.jobs.models import Job
from tests.functional.jobs.jobs_at_work import failed
from tests.support.pages.answers import text_of
from tests.support.pages.factories import (
    NOW,
    new_commit,
    new_job,
    new_table,
    new_unindexed_table,
    new_user,
)

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
    assert "10 commits within a minute" in words


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


class TestWorkAtHand:
    """The first page while jobs run, as a first start leaves it."""

    HTMX = {"HX-Request": "true"}

    @pytest.fixture
    def job(self) -> Job:
        table = new_unindexed_table("orders")
        return new_job(
            kind="tables.index_log",
            title="Index orders",
            subject_id=table.id,
            state=Job.State.RUNNING,
            step="Starting Spark",
        )

    @staticmethod
    def asks(page: str) -> str:
        """The address that the page asks for how far its jobs are."""
        found = re.search(r'hx-get="(/\?seen=[^"]+)"', page)
        return found[1] if found else ""

    def test_is_told_step_by_step_without_the_rest_of_the_page(self, viewer, job):
        address = self.asks(text_of(viewer, "/"))
        Job.objects.filter(id=job.id).update(
            step="Reading the log", progress_done=2, progress_total=4,
            progress_unit="commits",
        )  # fmt: skip

        part = viewer.get(address, headers=self.HTMX).content.decode()

        assert "Reading the log, 2 of 4 commits" in part
        assert "Latest commits" not in part
        assert self.asks(part) == address

    def test_that_ends_brings_all_of_the_page_up_to_date(self, viewer, job):
        address = self.asks(text_of(viewer, "/"))
        Job.objects.filter(id=job.id).update(state=Job.State.DONE)

        answer = viewer.get(address, headers=self.HTMX)

        assert answer.status_code == 204
        assert "page-moved-on" in answer["HX-Trigger"]
        assert not self.asks(text_of(viewer, "/"))  # nothing is left to ask for
