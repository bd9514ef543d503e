"""Probes answer without a session, whatever host they name."""

from collections.abc import Iterator

import pytest
from django.db import OperationalError
from django.test import Client
from pytest_django import Settings

from apps.operate.probes.parts import ServerPart, parts, states

pytestmark = pytest.mark.django_db
PARTS = ["database", "home", "migrations", "broker", "mail", "spark", "storage"]


@pytest.fixture(autouse=True)
def _looks_again() -> Iterator[None]:
    states.forget()
    yield
    states.forget()


def probe(path: str, **headers: str):
    return Client().get(path, headers={"host": "10.1.2.3:8000", **headers})


def test_a_probe_names_the_address_of_its_pod_and_gets_no_session() -> None:
    live, ready = probe("/livez"), probe("/readyz")

    assert (live.status_code, live.content) == (200, b"ok\n")
    assert ready.status_code == 200
    assert not live.cookies
    assert not ready.cookies
    assert probe("/sign-in/").status_code == 400


def test_readiness_names_the_parts() -> None:
    body = probe("/readyz").json()

    assert body["status"] == "ready"
    assert [*body["parts"]] == PARTS
    assert body["parts"]["database"] == "ok"


@pytest.mark.parametrize(("name", "status"), [("database", 503), ("broker", 200)])
def test_only_what_is_needed_makes_it_not_ready(name: str, status: int) -> None:
    def fails() -> str:
        raise OperationalError

    before = next(one for one in parts if one.name == name)
    parts.register(ServerPart(name=name, is_needed=before.is_needed, state=fails))
    try:
        answer = probe("/readyz")
    finally:
        parts.register(before)

    assert answer.status_code == status
    assert answer.json()["parts"][name] == "failed"
    assert probe("/livez").status_code == 200


def test_other_methods_are_refused() -> None:
    assert Client().post("/livez").status_code == 405
    assert Client().head("/readyz").status_code == 200


def test_production_asks_no_probe_for_https(settings: Settings) -> None:
    settings.SECURE_SSL_REDIRECT = True

    assert probe("/readyz").status_code == 200


class TestMetrics:
    def test_are_open_to_this_machine(self) -> None:
        answer = Client().get("/metrics")

        assert answer.status_code == 200
        assert "deltaweb_requests_total" in answer.content.decode()

    @pytest.mark.parametrize(
        ("address", "headers"),
        [
            ("192.0.2.1", {}),
            ("127.0.0.1", {"x-forwarded-for": "127.0.0.1"}),
            ("127.0.0.1", {"x-real-ip": "192.0.2.1"}),
            ("127.0.0.1", {"via": "1.1 proxy"}),
            ("", {}),
        ],
    )
    def test_are_closed_to_others(self, address: str, headers: dict[str, str]) -> None:
        answer = Client(REMOTE_ADDR=address).get("/metrics", headers=headers)

        assert answer.status_code == 403
        assert b"deltaweb_requests" not in answer.content

    def test_are_closed_to_what_nginx_passes_on(self) -> None:
        answer = Client(SERVER_PROTOCOL="HTTP/1.0").get("/metrics")

        assert answer.status_code == 403

    def test_open_to_named_networks(self, settings: Settings) -> None:
        settings.METRICS_NETWORKS = ["192.0.2.0/24"]

        assert Client(REMOTE_ADDR="192.0.2.7").get("/metrics").status_code == 200
        assert Client(REMOTE_ADDR="198.51.100.7").get("/metrics").status_code == 403

    def test_open_to_a_key(self, settings: Settings) -> None:
        far = Client(REMOTE_ADDR="198.51.100.7")
        settings.METRICS_KEY = "of-prometheus"

        for sent, status in (("of-prometheus", 200), ("other", 403), ("", 403)):
            headers = {"Authorization": f"Bearer {sent}"}
            assert far.get("/metrics", headers=headers).status_code == status

    def test_no_key_opens_nothing(self) -> None:
        far = Client(REMOTE_ADDR="198.51.100.7")

        assert (
            far.get("/metrics", headers={"Authorization": "Bearer "}).status_code == 403
        )
