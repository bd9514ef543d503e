"""How fast a key may call."""

from pathlib import Path

import pytest
from django.test import Client
from pytest_django import Settings

from tests.support.pages.rest import V1, Script, refusal

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def _two_at_once(settings: Settings, tmp_path: Path) -> None:
    settings.HOME = tmp_path
    settings.API_REQUESTS_PER_S, settings.API_REQUEST_BURST = 1, 2


def test_a_key_that_asks_too_fast_is_told_when_to_ask_again() -> None:
    script = Script()

    statuses = [script.call("GET", f"{V1}/shares").status_code for _ in range(2)]
    refused = script.call("GET", f"{V1}/shares")

    assert statuses == [200, 200]
    assert refusal(refused) == (429, "too-many-requests")
    assert refused["Retry-After"] == "1"


def test_another_key_is_not_held_up() -> None:
    script = Script()
    for _ in range(3):
        script.call("GET", f"{V1}/shares")

    assert Script(name="otto").call("GET", f"{V1}/shares").status_code == 200


def test_a_person_in_a_browser_is_not_counted() -> None:
    client = Client()
    client.force_login(Script().user)

    answers = [client.get(f"{V1}/shares").status_code for _ in range(4)]

    assert answers == [200] * 4
