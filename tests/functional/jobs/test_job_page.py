"""The page of one job: what it tells to whom, cancel and retry."""

import uuid

import pytest
from django.test import Client
from pytest_django import Settings

from apps.accounts.models import User
from apps.jobs.models import Job
from tests.functional.jobs.jobs_at_work import SEEN, failed, running
from tests.support.pages.factories import new_job

pytestmark = pytest.mark.django_db


class TestOneJob:
    def test_a_failed_one_says_where_why_and_what_to_do(self, editor: Client) -> None:
        job = failed()

        page = editor.get(f"/jobs/{job.id}/").content.decode()

        for text in ("Listing the log", "log-gap", "Version 7 is missing.", "Restore"):
            assert text in page
        assert "Traceback: &lt;secret&gt;" in page

    def test_a_viewer_is_spared_the_details(self, viewer: Client) -> None:
        job = failed(subject_id=SEEN, parameters={"location": "s3://secret"})

        page = viewer.get(f"/jobs/{job.id}/").content.decode()
        data = viewer.get(f"/jobs/{job.id}.json").json()

        assert "Version 7 is missing." in page
        assert "Traceback" not in page
        assert data["details"] is data["parameters"] is None

    @pytest.mark.parametrize(("days", "said"), [(1, "1 day."), (90, "90 days.")])
    def test_that_is_no_more_says_how_long_jobs_are_kept(
        self, editor: Client, settings: Settings, days: int, said: str
    ) -> None:
        settings.JOB_DAYS = days

        error = editor.get(f"/jobs/{uuid.uuid4()}.json").json()

        assert error["error"] == "job-not-found"
        assert error["hint"] == f"Finished jobs are removed after {said}"

    def test_shows_steps_counts_log_and_subject(self, editor: Client) -> None:
        job = running(
            subject_id=SEEN,
            steps=[
                {
                    "name": "Listing the log",
                    "started_at": "2026-11-21T12:00:00.000Z",
                    "finished_at": "2026-11-21T12:01:05.000Z",
                }
            ],
            counters={"files_listed": 1284},
            log="2026-11-21T12:00:00Z Listing the log\n",
        )

        page = editor.get(f"/jobs/{job.id}/").content.decode()

        for text in ("1 min 5 s", "Files listed", "1,284", "default.orders"):
            assert text in page
        assert 'href="/t/default/orders/"' in page

    def test_says_in_words_what_kind_it_is_of(self, editor: Client) -> None:
        job = new_job(kind="tables.preview_rows")
        other = new_job(kind="other.work")

        page = editor.get(f"/jobs/{job.id}/").content.decode()

        assert '<span title="tables.preview_rows">Read rows</span>' in page
        assert editor.get(f"/jobs/{job.id}.json").json()["kind"] == job.kind
        assert ">other.work<" in editor.get(f"/jobs/{other.id}/").content.decode()

    def test_names_its_worker_shortly(self, editor: Client) -> None:
        job = running(lease_owner="lake-1/4026531836/4711/98211#1f2e3d4c")

        page = editor.get(f"/jobs/{job.id}/").content.decode()

        assert f'<span title="{job.lease_owner}">lake-1, process 4711</span>' in page

    def test_an_unknown_one_is_a_404(self, editor: Client) -> None:
        assert editor.get(f"/jobs/{uuid.uuid4()}/").status_code == 404
        assert editor.get(f"/jobs/{uuid.uuid4()}.json").status_code == 404


class TestCancelAndRetry:
    def test_a_waiting_job_is_cancelled(self, editor: Client) -> None:
        job = new_job()

        assert editor.post(f"/jobs/{job.id}/cancel").status_code == 302
        job.refresh_from_db()
        assert job.state == Job.State.CANCELLED

    def test_a_failed_job_is_run_again_as_a_new_one(self, editor: Client) -> None:
        job = failed()

        response = editor.post(f"/jobs/{job.id}/retry")

        again = Job.objects.get(state=Job.State.QUEUED)
        assert response["Location"] == f"/jobs/{again.id}/"
        assert again.kind == job.kind

    def test_a_job_that_is_done_is_not(self, editor: Client) -> None:
        job = new_job(state=Job.State.DONE)

        assert editor.post(f"/jobs/{job.id}/retry").status_code == 409

    @pytest.mark.parametrize("action", ["cancel", "retry"])
    def test_a_viewer_does_so_only_with_their_own(self, viewer: Client, action: str):
        vera = User.objects.get(username="vera")
        theirs = failed(subject_id=SEEN, state=Job.State.FAILED)
        own = failed(subject_id=SEEN, requested_by=vera)

        assert viewer.post(f"/jobs/{theirs.id}/{action}").status_code == 403
        assert viewer.post(f"/jobs/{own.id}/{action}").status_code == 302

    @pytest.mark.parametrize("action", ["cancel", "retry"])
    def test_a_get_changes_nothing(self, editor: Client, action: str) -> None:
        job = new_job()

        assert editor.get(f"/jobs/{job.id}/{action}").status_code == 405
