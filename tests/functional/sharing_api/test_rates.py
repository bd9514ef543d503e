import time
from dataclasses import dataclass, field
from pathlib import Path

import pytest
from django.test import Client
from pytest_django import Settings

from apps.audit.models import AuditEvent
from apps.sharing.api import throttling
from tests.functional.sharing_api.calls import (
    PREFIX,
    Caller,
    Lake,
    body_of,
    error,
    files,
    local,
)
from tests.support.pages.factories import new_token


@dataclass
class Clock:
    """The time by which rates are kept: it moves when someone waits, or by hand.

    Attributes:
        now_s: Far from 0, since buckets remember moments of the tests before.
        waited_s: How long answers were put off, in their order.
    """

    now_s: float
    waited_s: list[float] = field(default_factory=list)

    def monotonic(self) -> float:
        return self.now_s

    def sleep(self, delay_s: float) -> None:
        self.waited_s.append(delay_s)
        self.now_s += delay_s


@pytest.fixture(autouse=True)
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    """A clock that stands still."""
    stopped = Clock(now_s=time.monotonic())
    monkeypatch.setattr(throttling, "time", stopped)
    return stopped


@pytest.fixture(autouse=True)
def _new_rates(settings: Settings, tmp_path: Path) -> None:
    """No request and no failure has been counted yet."""
    settings.HOME = tmp_path


class TestRequests:
    def test_beyond_the_burst_wait(self, acme: Caller, settings: Settings) -> None:
        settings.REQUESTS_PER_S, settings.REQUEST_BURST = 1, 3

        answers = [acme.get("/shares") for _ in range(5)]

        assert [answer.status_code for answer in answers] == [200] * 3 + [429] * 2
        refused = answers[-1]
        assert int(refused["Retry-After"]) >= 1
        assert error(refused)["errorCode"] == "RESOURCE_EXHAUSTED"
        assert AuditEvent.objects.filter(status=429).count() == 2

    def test_are_let_in_again(self, acme: Caller, settings: Settings, clock: Clock):
        settings.REQUESTS_PER_S, settings.REQUEST_BURST = 20, 1
        assert acme.get("/shares").status_code == 200
        assert acme.get("/shares").status_code == 429

        clock.sleep(0.1)

        assert acme.get("/shares").status_code == 200

    def test_of_one_token_do_not_count_for_another(self, acme, settings):
        settings.REQUESTS_PER_S, settings.REQUEST_BURST = 1, 1
        other = Caller(*new_token(acme.recipient, expires_at=acme.token.expires_at))

        assert acme.get("/shares").status_code == 200
        assert acme.get("/shares").status_code == 429
        assert other.get("/shares").status_code == 200

    def test_for_files_do_not_count(self, acme: Caller, lake: Lake, settings: Settings):
        settings.REQUESTS_PER_S, settings.REQUEST_BURST = 1, 1
        url = local(files(acme.query(lake.path))[0]["url"])

        for _ in range(5):
            answer = acme.client.get(f"{PREFIX}{url}")
            body_of(answer)
            assert answer.status_code == 200

    def test_are_answered_where_rates_cannot_be_kept(self, acme, settings, tmp_path):
        settings.HOME = tmp_path / "gone"

        assert acme.get("/shares").status_code == 200


class TestFailures:
    def test_are_always_401_and_slowed_beyond_a_hundred(self, db, stranger, clock):
        del db
        for _ in range(150):
            throttling.failure_delay_s("127.0.0.1")

        answer = stranger.get(f"{PREFIX}/shares")

        assert answer.status_code == 401
        assert clock.waited_s == [pytest.approx(0.51)]

    def test_of_one_address_do_not_slow_another(self) -> None:
        delays = [throttling.failure_delay_s("10.0.0.1") for _ in range(300)]

        assert delays[:100] == [0] * 100
        assert delays == sorted(delays)
        assert max(delays) == 1
        assert throttling.failure_delay_s("10.0.0.2") == 0
        assert throttling.failure_delay_s("2001:db8::1") == 0
        assert throttling.failure_delay_s("") == 0

    def test_of_one_network_of_ipv6_count_together(self) -> None:
        numbers = range(1, 1000)

        delays = [throttling.failure_delay_s(f"2001:db8::{n:x}") for n in numbers]

        assert max(delays) > 0

    def test_that_are_slowed_are_not_recorded_one_by_one(self, db, stranger):
        del db
        for _ in range(200):
            throttling.failure_delay_s("127.0.0.1")

        stranger.get(f"{PREFIX}/shares")

        assert AuditEvent.objects.count() == 0

    def test_at_the_urls_of_files_count_too(self, db, stranger, clock):
        del db
        path = "/files/s/00000000-0000-4000-8000-000000000000/x"
        for _ in range(150):
            throttling.failure_delay_s("127.0.0.1")

        answer = stranger.get(f"{PREFIX}{path}")

        assert answer.status_code == 403
        assert clock.waited_s == [pytest.approx(0.51)]
        assert AuditEvent.objects.count() == 0

    def test_do_not_slow_who_comes_in(self, acme: Caller, stranger: Client) -> None:
        for _ in range(120):
            stranger.get(f"{PREFIX}/shares")

        assert acme.get("/shares").status_code == 200
