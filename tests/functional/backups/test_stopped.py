"""A restore notices a worker that works with the database, whatever its clock says."""

import os
from collections.abc import Callable
from datetime import timedelta

import pytest
from django.db import connection
from django.utils import timezone

from apps.jobs.models import Worker
from apps.jobs.running.process import machine_name, process_name
from deltaweb.management.backups.errors import ServerRunsError
from deltaweb.management.backups.restoring import LOOKS, check_stopped
from tests.support import cases

pytestmark = pytest.mark.django_db
ELSEWHERE = "lake-2/4026531836/4711/77"
CLOCKS = {
    "a right clock": timedelta(),
    "a clock behind": timedelta(hours=-3),
    "a clock ahead": timedelta(hours=3),
}


class Pauses:
    """Pauses that take no time; after some of them, something happens."""

    def __init__(self, happens: Callable[[], object] = int, after: int = 1) -> None:
        self.lengths_s: list[float] = []
        self._happens, self._after = happens, after

    def __call__(self, length_s: float) -> None:
        self.lengths_s.append(length_s)
        if len(self.lengths_s) == self._after:
            self._happens()


def beat(name: str, off: timedelta = timedelta()) -> Worker:
    """Write the row of a worker, as its heartbeat does."""
    now = timezone.now() + off
    seen = {"started_at": now, "seen_at": now}
    return Worker.objects.update_or_create(name=name, defaults=seen)[0]


def test_a_database_without_workers_is_not_waited_for() -> None:
    pauses = Pauses()
    check_stopped(connection, pause=pauses)
    assert pauses.lengths_s == []


@cases("off", CLOCKS)
def test_a_worker_elsewhere_that_beats_is_noticed(off: timedelta) -> None:
    beat(ELSEWHERE, off)
    pauses = Pauses(lambda: beat(ELSEWHERE, off), after=2)

    with pytest.raises(ServerRunsError, match="lake-2, process 4711"):
        check_stopped(connection, pause=pauses)

    assert len(pauses.lengths_s) == 2


@cases("off", CLOCKS)
def test_a_worker_elsewhere_that_was_killed_is_watched_for_half_a_minute(
    off: timedelta,
) -> None:
    beat(ELSEWHERE, off)
    pauses = Pauses()

    check_stopped(connection, pause=pauses)

    assert len(pauses.lengths_s) == LOOKS - 1
    assert sum(pauses.lengths_s) == 30


def test_a_worker_that_starts_meanwhile_is_noticed() -> None:
    beat(ELSEWHERE)
    pauses = Pauses(lambda: beat("lake-3/4026531836/12/99"))

    with pytest.raises(ServerRunsError, match="lake-3, process 12"):
        check_stopped(connection, pause=pauses)


def test_a_worker_of_this_machine_is_known_at_once() -> None:
    pauses = Pauses()
    killed = beat(f"{machine_name()}/{os.getpid()}/1")
    check_stopped(connection, pause=pauses)
    killed.delete()
    beat(process_name(), timedelta(hours=-3))

    with pytest.raises(ServerRunsError, match=f"process {os.getpid()}"):
        check_stopped(connection, pause=pauses)

    assert pauses.lengths_s == []
