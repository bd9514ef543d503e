from datetime import timedelta

import pytest
from django.utils import timezone

from deltaweb.web.jobs import tasks
from deltaweb.web.jobs.models import Job, Worker
from deltaweb.web.jobs.running.process import process_name
from deltaweb.web.jobs.sweep import heartbeat
from tests.support.pages.factories import new_job
from tests.support.processes.installation import wait_for

pytestmark = pytest.mark.database


@pytest.mark.django_db
def test_a_beat_keeps_one_row_a_process() -> None:
    long_ago = timezone.now() - timedelta(hours=1)
    heartbeat.beat_once()
    Worker.objects.update(seen_at=long_ago, started_at=long_ago)

    heartbeat.beat_once()

    worker = Worker.objects.get(name=process_name())
    assert worker.started_at == long_ago
    assert worker.seen_at > long_ago


@pytest.mark.django_db
def test_a_beat_tells_the_queues() -> None:
    heartbeat.beat_once(["default", "spark"])

    assert Worker.objects.get().queues == ["default", "spark"]


@pytest.mark.django_db(transaction=True)
def test_a_worker_beats_and_sweeps_when_it_starts_and_leaves_no_row() -> None:
    lost = new_job(state=Job.State.RUNNING, lease_owner="gone")

    beating = heartbeat.Heartbeat()
    has_swept = wait_for(lambda: Job.objects.get(id=lost.id).state == Job.State.QUEUED)
    is_known = Worker.objects.exists()
    beating.stop()

    assert has_swept
    assert is_known
    assert not Worker.objects.exists()


@pytest.mark.django_db
def test_the_periodic_task_sweeps() -> None:
    lost = new_job(state=Job.State.RUNNING, lease_owner="gone")

    tasks.sweep_leases()

    lost.refresh_from_db()
    assert lost.state == Job.State.QUEUED
