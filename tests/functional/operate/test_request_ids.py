"""The id of a request is in the job that it starts, in its log lines and in Spark."""

import logging
import re

import pytest
from django.test import Client
from django.utils import timezone

from apps.accounts.models import User
from apps.jobs.models import Job
from apps.jobs.running.tracking import track_job
from apps.jobs.services import enqueue, enqueue_many
from deltaweb.environment import logs
from tests.support.pages.factories import new_job, signed_in

pytestmark = pytest.mark.django_db


def queued() -> Job:
    return enqueue(kind="test.nothing", title="x", now=timezone.now())


def test_a_job_has_the_id_of_the_request_that_asked_for_it(editor: Client) -> None:
    again = new_job(state=Job.State.FAILED)

    answer = editor.post(f"/api/v1/jobs/{again.id}/retry")

    job = Job.objects.get(state=Job.State.QUEUED)
    assert job.request_id == answer["X-Request-Id"]
    assert re.fullmatch(r"[0-9a-f]{12}", job.request_id)


def test_work_that_no_request_asked_for_has_an_id_of_its_own() -> None:
    now = timezone.now()
    enqueue_many([Job(kind="x", title="x", created_at=now)], num_woken=0)

    ids = {
        queued().request_id,
        queued().request_id,
        Job.objects.get(kind="x").request_id,
    }

    assert len(ids) == 3
    assert "" not in ids


def test_a_job_that_a_job_starts_has_the_id_of_the_same_request() -> None:
    with logs.named_in_lines(request="r-12345678"):
        first = queued()

    with track_job(first.id):
        second = queued()

    assert second.request_id == "r-12345678"
    assert second.id != first.id


def test_the_lines_of_a_job_have_both_ids() -> None:
    found: list[str] = []
    job = queued()

    class Kept(logging.Handler):
        def emit(self, record: logging.LogRecord) -> None:
            found.append(self.format(record))

    kept = Kept()
    kept.setFormatter(logs.TextLines())
    logger = logging.getLogger("apps.jobs.running.tracking")
    logger.addHandler(kept)
    try:
        with track_job(job.id):
            raise ValueError("x")  # noqa: EM101 (what a job may raise)
    finally:
        logger.removeHandler(kept)

    (line, *_), (wrong,) = found[0].splitlines(), found
    assert line.endswith(f" request={job.request_id} job={job.id}")
    assert "Traceback" in wrong
    assert logs.ids_of_lines() == {}


def test_administrators_alone_see_it(editor: Client) -> None:
    job, admin = queued(), signed_in("root", role=User.Role.ADMIN)

    for client, is_shown in ((admin, True), (editor, False)):
        page = client.get(f"/jobs/{job.id}/").content.decode()
        rest = client.get(f"/api/v1/jobs/{job.id}").json()
        assert (job.request_id in page) == is_shown
        assert rest["request_id"] == (job.request_id if is_shown else None)
