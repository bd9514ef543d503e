"""Jobs that ask servers of others wait for each other, and for nothing else."""

import threading
from functools import partial

import pytest

from apps.jobs import kinds
from apps.jobs.broker.aside import JobsAside
from apps.jobs.models import Job
from tests.support.processes.installation import wait_for

WAIT_S = 30


class TestJobsAside:
    def test_are_done_one_after_another_and_nobody_waits_for_them(self) -> None:
        aside, gate = JobsAside(), threading.Event()
        done: list[str] = []
        is_begun = threading.Event()

        def slow() -> None:
            is_begun.set()
            assert gate.wait(WAIT_S)
            done.append("slow")

        aside.add("slow", slow)
        aside.add("next", lambda: done.append("next"))

        assert is_begun.wait(WAIT_S)
        assert done == []
        assert not aside.is_idle
        gate.set()
        assert wait_for(lambda: aside.is_idle)
        assert done == ["slow", "next"]

    def test_come_once_however_often_they_are_woken(self) -> None:
        aside, gate = JobsAside(), threading.Event()
        done: list[int] = []

        def wait() -> None:
            assert gate.wait(WAIT_S)

        aside.add("first", wait)
        for number in range(3):
            aside.add("second", partial(done.append, number))
        gate.set()

        assert wait_for(lambda: aside.is_idle)
        assert done == [0]

    def test_go_on_after_one_that_fails_and_begin_again(self, caplog) -> None:
        aside = JobsAside()
        done: list[str] = []

        def fail() -> None:
            raise LookupError

        aside.add("bad", fail)
        aside.add("good", lambda: done.append("good"))
        assert wait_for(lambda: aside.is_idle)
        aside.add("later", lambda: done.append("later"))

        assert wait_for(lambda: aside.is_idle)
        assert done == ["good", "later"]
        assert "Job bad could not be done aside" in caplog.text


@pytest.mark.parametrize(
    ("kind", "parameters", "is_aside"),
    [
        ("index_log", {"table_id": "x", "received": True}, True),
        ("index_log", {"table_id": "x"}, False),
        ("scan_root", {"root": "received://acme"}, True),
        ("scan_root", {"root": "s3://acme"}, False),
        ("check_received", {"provider": "received://acme"}, True),
        ("of_no_app", {}, False),
    ],
)
def test_what_asks_a_provider_is_done_aside(kind: str, parameters, *, is_aside: bool):
    job = Job(kind=f"tables.{kind}", parameters=parameters)

    assert kinds.is_aside(job) == is_aside
    assert not is_aside or kinds.queue_of(job) == "default"
