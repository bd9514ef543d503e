"""The part of a job's page that asks again: progress, queue and worker."""

from datetime import timedelta

import pytest
from django.test import Client
from django.utils import timezone

from apps.jobs.models import Job
from tests.functional.jobs.jobs_at_work import new_worker, running
from tests.support.pages.factories import new_job

pytestmark = pytest.mark.django_db
HTMX = {"HX-Request": "true"}


class TestTheLivePart:
    @pytest.mark.parametrize(
        ("age_s", "expected"),
        [(0, 'data-every="1"'), (30, 'data-every="3"'), (300, 'data-every="10"')],
    )
    def test_asks_less_often_the_longer_it_takes_where_nothing_is_heard(
        self, editor: Client, age_s: int, expected: str
    ) -> None:
        job = running(created_at=timezone.now() - timedelta(seconds=age_s))

        answer = editor.get(f"/jobs/{job.id}/progress", headers=HTMX)
        part = " ".join(answer.content.decode().split())

        assert expected in part
        assert 'role="status"' in part
        assert 'aria-live="polite"' in part
        assert '<progress class="dw-progress" max="413" value="212"' in part

    @pytest.mark.parametrize("end", [Job.State.DONE, Job.State.CANCELLED])
    def test_asks_no_more_once_it_is_over(self, editor: Client, end: Job.State) -> None:
        job = running(state=end)

        response = editor.get(f"/jobs/{job.id}/progress", headers=HTMX)

        assert "hx-trigger" not in response.content.decode()
        assert response.status_code == 200
        assert "job-finished" in response["HX-Trigger"]
        assert "page-moved-on" not in response.headers.get("HX-Trigger", "")

    def test_reloads_the_page_at_the_end_where_that_is_wanted(self, editor: Client):
        job = running()
        path = f"/jobs/{job.id}/progress?then=reload"
        plain = editor.get(path, headers=HTMX)
        assert "page-moved-on" not in plain.headers.get("HX-Trigger", "")

        Job.objects.update(state=Job.State.DONE)

        assert "page-moved-on" in editor.get(path, headers=HTMX)["HX-Trigger"]

    def test_goes_to_the_result_at_the_end_where_that_is_wanted(self, editor: Client):
        job = running(kind="tables.load_samples")
        path = f"/jobs/{job.id}/progress?then=result"
        assert "progress?then=result" in editor.get(path, headers=HTMX).content.decode()

        Job.objects.update(state=Job.State.DONE)
        assert editor.get(path, headers=HTMX)["HX-Redirect"] == "/tables/"
        Job.objects.update(state=Job.State.FAILED)
        ended = editor.get(path, headers=HTMX)

        assert "HX-Redirect" not in ended.headers
        assert "page-moved-on" in ended["HX-Trigger"]

    def test_says_that_no_worker_is_there(self, editor: Client) -> None:
        new_worker(seconds_ago=240)
        job = new_job()

        part = editor.get(f"/jobs/{job.id}/progress").content.decode()

        assert "No worker for it has reported since" in part
        assert "4 min ago" in part
        assert 'href="/status"' in part

    @pytest.mark.parametrize(
        ("kind", "is_told"), [("tables.index_log", True), ("tables.scan_root", False)]
    )
    def test_says_that_no_worker_takes_jobs_of_its_kind(self, editor, kind, *, is_told):
        new_worker("w", "default")
        new_worker("s", "spark", seconds_ago=240)
        job = new_job(kind=kind)

        part = editor.get(f"/jobs/{job.id}/progress").content.decode()

        assert ("No worker for it has reported since" in part) == is_told
        assert ("4 min ago" in part) == is_told

    def test_says_the_counts_while_they_grow(self, editor: Client) -> None:
        job = running(counters={"files_listed": 1284, "commits_read": 12})

        part = editor.get(f"/jobs/{job.id}/progress").content.decode()

        assert "commits read 12 · files listed 1,284" in part

    def test_says_that_the_worker_is_silent(self, editor: Client) -> None:
        new_worker(seconds_ago=90)
        spoke_at = timezone.now() - timedelta(seconds=90)
        expired_at = spoke_at + timedelta(seconds=60)
        silent = running(lease_owner="w#1", lease_expires_at=expired_at)
        busy = running(lease_owner="other#2")

        part = editor.get(f"/jobs/{silent.id}/progress").content.decode()

        assert "Its worker was last seen" in part
        assert "another worker takes over the job" in part
        assert (
            "last seen" not in editor.get(f"/jobs/{busy.id}/progress").content.decode()
        )
        assert editor.get(f"/jobs/{silent.id}.json").json()["worker_seen_at"]

    def test_a_lost_session_leads_to_the_sign_in(self) -> None:
        path = f"/jobs/{running().id}/progress"

        assert "HX-Redirect" in Client().get(path, headers=HTMX)

    def test_counts_what_a_job_without_a_total_has_done(self, editor: Client) -> None:
        job = running(progress_total=None, progress_done=7)

        part = editor.get(f"/jobs/{job.id}/progress").content.decode()

        assert "Replaying the log: 7 commits" in part

    def test_says_that_the_worker_has_been_asked_to_stop(self, editor: Client) -> None:
        job = running()

        page = editor.post(f"/jobs/{job.id}/cancel", follow=True).content.decode()

        assert "The worker has been asked to stop." in page
        assert "/cancel" not in page
