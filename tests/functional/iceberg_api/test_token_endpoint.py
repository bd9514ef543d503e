"""The catalogue's own path of the token endpoint, which old clients ask."""

from urllib.parse import urlencode

import pytest
from django.test import Client

from apps.audit.models import AuditEvent
from apps.sharing.issuing import proofs
from tests.functional.iceberg_api.clients import TABLE, body
from tests.functional.sharing_api.calls import Answer, Caller
from tests.functional.sharing_api.test_oauth import CREDENTIALS, basic, new_client

PATHS = ("/iceberg/v1/oauth/tokens", "/iceberg//v1/oauth/tokens")


def trade(path: str, form: dict[str, str], **headers: str) -> Answer:
    """POST a form."""
    return Client().post(
        path,
        urlencode(form),
        content_type="application/x-www-form-urlencoded",
        headers=headers,
    )


@pytest.mark.parametrize("path", PATHS)
def test_gives_a_token_that_opens_the_catalogue(acme: Caller, path: str) -> None:
    client, secret = new_client(acme.recipient, proofs.CLIENT_SECRET)
    form = {"client_id": client.prefix, "client_secret": secret, "scope": "catalog"}

    answers = [
        trade(path, CREDENTIALS | form),
        trade(path, CREDENTIALS, **basic(client.prefix, secret)),
    ]

    for answer in answers:
        assert answer.status_code == 200, answer.content
        assert answer["Cache-Control"] == "no-store"
        token = body(answer)
        assert token["token_type"] == "Bearer"
        header = {"Authorization": f"Bearer {token['access_token']}"}
        assert Client().get(f"/iceberg{TABLE}", headers=header).status_code == 200
    assert AuditEvent.objects.filter(action="oauth.token", status=200).count() == 2


@pytest.mark.parametrize("path", PATHS)
@pytest.mark.parametrize(
    ("form", "status", "name"),
    [
        ({}, 400, "invalid_request"),
        ({"grant_type": "password"}, 400, "unsupported_grant_type"),
        (CREDENTIALS, 401, "invalid_client"),
        (
            {**CREDENTIALS, "client_id": "a", "client_secret": "b"},
            401,
            "invalid_client",
        ),
    ],
)
@pytest.mark.usefixtures("lake")
def test_refuses_in_the_form_of_oauth(path, form, status, name) -> None:
    answer = trade(path, form)

    assert (answer.status_code, body(answer)["error"]) == (status, name)
    assert body(answer)["error_description"]


@pytest.mark.usefixtures("lake")
def test_is_asked_by_post_alone() -> None:
    answer = Client().get(PATHS[0])

    assert (answer.status_code, body(answer)["error"]) == (405, "invalid_request")
