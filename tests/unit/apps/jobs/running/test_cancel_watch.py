"""One look at the database tells which of a worker's jobs are to be cancelled."""

import pytest

from apps.jobs.models import Job
from apps.jobs.running.cancel_watch import LOOK_INTERVAL_S, CancelWatch
from apps.jobs.running.held_lease import HeldLease, take_lease
from apps.jobs.services import cancel
from tests.support.pages.factories import NOW, new_job

pytestmark = [pytest.mark.django_db, pytest.mark.database]


class Watched:
    """A watch over some jobs, at a time that stands still until it is moved."""

    def __init__(self, num_jobs: int) -> None:
        self.now_s = 0.0
        self.watch = CancelWatch(lambda: self.now_s)
        self.leases = [self.take() for _ in range(num_jobs)]

    def take(self) -> HeldLease:
        taken = take_lease(new_job().id, clock=lambda: NOW)
        assert taken is not None
        self.watch.add(taken[0])
        return taken[0]

    def cancel(self, number: int) -> None:
        cancel(Job.objects.get(id=self.leases[number].job_id), now=NOW)

    def pass_time(self) -> None:
        self.now_s += LOOK_INTERVAL_S

    @property
    def asked(self) -> list[int]:
        return [n for n, one in enumerate(self.leases) if self.watch.is_asked(one)]


class TestCancelWatch:
    def test_asks_once_for_all_jobs(self, django_assert_num_queries):
        watched = Watched(8)
        watched.cancel(3)
        watched.cancel(5)

        with django_assert_num_queries(1):
            assert watched.asked == [3, 5]
            assert watched.asked == [3, 5]

    def test_asks_again_after_a_while(self, django_assert_num_queries):
        watched = Watched(8)
        assert watched.asked == []
        watched.cancel(0)

        with django_assert_num_queries(0):
            assert watched.asked == []
        watched.pass_time()
        with django_assert_num_queries(1):
            assert watched.asked == [0]

    def test_asks_at_once_for_a_job_that_comes_late(self) -> None:
        watched = Watched(1)
        assert watched.asked == []

        watched.leases.append(watched.take())
        watched.cancel(1)

        assert watched.asked == [1]

    def test_is_not_about_a_job_that_another_worker_has(self) -> None:
        watched = Watched(1)
        Job.objects.update(lease_owner="elsewhere", cancel_requested_at=NOW)

        assert watched.asked == []
