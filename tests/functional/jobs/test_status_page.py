"""The status page: which queues have a worker, and which jobs wait."""

from datetime import timedelta

import pytest
from django.test import Client
from django.utils import timezone

from apps.jobs.kind import Queue
from apps.jobs.listing.selectors import is_attended
from apps.jobs.models import Job
from apps.jobs.running.process import machine_name, process_name
from tests.functional.jobs.jobs_at_work import new_worker
from tests.support import cases
from tests.support.pages.factories import new_job

pytestmark = pytest.mark.django_db


class TestStatus:
    def test_is_green_with_a_living_worker(self, client: Client) -> None:
        new_worker()
        new_job()

        assert client.get("/status").status_code == 200
        answer = client.get("/status.json")
        assert answer.status_code == 200
        assert answer.json() | {"worker_seen_at": ""} == {
            "status": "ok",
            "workers": 1,
            "busy_workers": 0,
            "worker_seen_at": "",
            "unattended_queues": [],
            "queued": 1,
            "running": 0,
        }

    @pytest.mark.parametrize("seconds_ago", [None, 240])
    def test_says_which_jobs_wait_while_others_are_done(self, client, seconds_ago):
        new_worker("w", "default", "interactive")
        if seconds_ago is not None:
            new_worker("s", "spark", seconds_ago=seconds_ago)

        page = client.get("/status").content.decode()

        assert "Some jobs are waiting" in page
        assert "No worker takes jobs from the queue <code>spark</code>" in page
        assert ("4 min ago" in page) == (seconds_ago is not None)
        assert client.get("/status.json").json()["unattended_queues"] == ["spark"]

    @pytest.mark.parametrize(
        "queues", [["default", "interactive"], ["default", "interactive", "spark"]]
    )
    def test_the_list_says_so_too(self, editor: Client, queues: list[str]) -> None:
        new_worker("w", *queues)
        new_job(kind="tables.index_log")

        page = editor.get("/jobs/").content.decode()

        assert ("Some jobs are waiting." in page) == ("spark" not in queues)
        takes = f"takes {', '.join(queues)}"
        assert takes in editor.get("/status").content.decode()

    def test_names_workers_shortly_to_editors(self, editor: Client, viewer: Client):
        name = new_worker("lake-1/4026531836/4711/98211").name

        page = editor.get("/status").content.decode()

        assert f'<span title="{name}">lake-1, process 4711</span>' in page
        assert "lake-1" not in viewer.get("/status").content.decode()

    @pytest.mark.parametrize(
        ("kind", "expected"), [("tables.index_log", False), ("tables.scan_root", True)]
    )
    def test_tells_whether_anybody_takes_a_job(self, kind: str, *, expected: bool):
        new_worker("w", "default")

        assert is_attended(new_job(kind=kind), now=timezone.now()) == expected

    @cases(
        "owner, lease_s, is_busy",
        {
            "a lease that holds": ("elsewhere/1/2", 30, True),
            "a lease that ran out": ("elsewhere/1/2", -1, False),
            "a process that is here": (process_name(), -90, True),
            "one that is gone": (f"{machine_name()}/1/0", 30, False),
        },
    )
    def test_tells_a_busy_worker_from_none(self, client, owner, lease_s, *, is_busy):
        new_worker(owner, *Queue, seconds_ago=240)
        new_job(
            state=Job.State.RUNNING,
            lease_owner=f"{owner}#1",
            lease_expires_at=timezone.now() + timedelta(seconds=lease_s),
        )

        answer = client.get("/status.json")

        assert answer.status_code == (200 if is_busy else 503)
        found = answer.json()
        assert found["status"] == ("busy" if is_busy else "no-worker")
        assert found["busy_workers"] == found["workers"] == int(is_busy)
        assert bool(found["unattended_queues"]) != is_busy
        page = client.get("/status").content.decode()
        assert ("The worker is busy" in page) == is_busy

    @pytest.mark.parametrize("seconds_ago", [None, 60])
    def test_is_red_without_one(self, client: Client, seconds_ago: int | None) -> None:
        if seconds_ago is not None:
            new_worker(seconds_ago=seconds_ago)

        page = client.get("/status")

        assert page.status_code == 503
        assert "No worker is running" in page.content.decode()
        assert client.get("/status.json").status_code == 503
