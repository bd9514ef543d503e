"""Errors of Django in our layout: what they tell whoever can mend them."""

import pytest
from django.test import Client

pytestmark = pytest.mark.django_db
SETTINGS = ("DELTAWEB_ALLOWED_HOSTS", "DELTAWEB_PUBLIC_URL")


def test_a_wrong_host_names_the_settings_and_not_the_host() -> None:
    answer = Client().get("/sign-in/", headers={"Host": "evil.example.org"})

    shown = answer.content.decode()
    assert answer.status_code == 400
    assert [name for name in SETTINGS if name not in shown] == []
    assert "evil.example.org" not in shown


@pytest.mark.parametrize(
    "header", [{"Origin": "https://other.example.org"}, {"Origin": "null"}]
)
def test_a_form_of_another_address_names_the_settings(header) -> None:
    client = Client(enforce_csrf_checks=True)

    answer = client.post("/sign-in/", {"username": "ada"}, headers=header)

    shown = answer.content.decode()
    assert answer.status_code == 403
    assert [name for name in SETTINGS if name not in shown] == []
    assert "other.example.org" not in shown


def test_a_form_without_its_token_is_too_old() -> None:
    answer = Client(enforce_csrf_checks=True).post("/sign-in/", {"username": "ada"})

    assert answer.status_code == 403
    assert "This form is too old" in answer.content.decode()
