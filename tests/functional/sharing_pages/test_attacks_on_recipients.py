"""Forms and calls that name other things than their address change nothing else."""

import pytest
from django.test import Client
from django.utils import timezone

from apps.sharing.models import Grant, Recipient, RecipientToken
from tests.support.pages.factories import (
    new_grant,
    new_recipient,
    new_share,
    new_token,
)

pytestmark = pytest.mark.django_db


@pytest.fixture
def globex() -> Recipient:
    return new_recipient(
        "globex",
        allowed_networks=["192.0.2.0/24"],
        hard_limit_bytes=1024,
        contact="data@globex.example",
    )


@pytest.mark.parametrize("what", ["link", "profile", "revoke", "retire"])
def test_a_token_is_not_found_below_another_recipient(admin, globex, what) -> None:
    new_recipient("acme")
    token, _ = new_token(globex)
    before = RecipientToken.objects.values().get()

    answer = admin.post(
        f"/recipients/acme/tokens/{token.id}/{what}", {"confirm": "yes"}
    )

    assert answer.status_code == 404
    assert RecipientToken.objects.values().get() == before


@pytest.mark.parametrize("how", ["delete", "patch"])
def test_a_call_does_not_find_it_either(admin: Client, globex, how: str) -> None:
    new_recipient("acme")
    token, _ = new_token(globex)
    path = f"/api/v1/recipients/acme/tokens/{token.id}"
    body = {"ends": "0"} if how == "patch" else None

    answer = getattr(admin, how)(path, body, content_type="application/json")

    assert answer.json()["error"] == "token-not-found"
    assert RecipientToken.objects.unended(timezone.now()).exists()


@pytest.mark.usefixtures("globex")
@pytest.mark.parametrize("page", ["settings", "limits", "delete"])
def test_a_name_in_a_form_is_not_that_of_the_address(admin, page) -> None:
    new_recipient("acme")
    before = Recipient.objects.values().get(name="globex")
    sent = {"name": "globex", "networks": "", "hard": "", "confirm": "acme"}

    admin.post(f"/recipients/acme/{page}", sent)

    assert Recipient.objects.values().get(name="globex") == before


@pytest.mark.parametrize("networks", [",", " , ,", "\n,\n"])
def test_networks_without_a_network_do_not_let_every_address_in(
    admin: Client, globex: Recipient, networks: str
) -> None:
    answer = admin.post("/recipients/globex/settings", {"networks": networks})

    assert answer.status_code == 422
    globex.refresh_from_db()
    assert globex.allowed_networks == ["192.0.2.0/24"]


def test_a_new_recipient_is_not_made_with_such_networks(admin: Client) -> None:
    sent = {"name": "acme", "lifetime": "30d", "networks": " , "}

    assert admin.post("/recipients/new", sent).status_code == 422
    assert not Recipient.objects.exists()


@pytest.mark.parametrize("page", ["settings", "limits", "grants"])
def test_a_form_without_fields_keeps_all(admin, globex, page: str) -> None:
    new_grant(new_share("retail"), globex)
    before = Recipient.objects.values().get()

    admin.post(f"/recipients/globex/{page}", {})

    assert Recipient.objects.values().get() == before
    assert Grant.objects.count() == 1


def test_a_token_in_use_is_not_revoked_by_one_click(admin: Client, globex) -> None:
    token, _ = new_token(globex, last_used_at=timezone.now())

    answer = admin.post(f"/recipients/globex/tokens/{token.id}/revoke")

    assert answer.status_code == 409
    assert RecipientToken.objects.get().revoked_at is None
