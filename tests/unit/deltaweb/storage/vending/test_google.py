"""A token of Google, narrowed to a folder, as the token service is asked for it."""

import json
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from typing import Any
from urllib.parse import unquote

import pytest
from cryptography.hazmat.primitives.asymmetric import rsa

from deltaweb.storage.objects.vending.credentials import OAuthToken
from deltaweb.storage.objects.vending.errors import VendingRefusedError
from deltaweb.storage.objects.vending.vendors import open_vendor
from tests.support.stores.token_service import (
    Asked,
    TokenService,
    google_key,
    running_token_service,
)


def both_tokens(asked: Asked) -> tuple[int, dict[str, str], Any]:
    """The account's own token first, and the narrowed one for it."""
    if asked.form.get("subject_token") == "own":
        return 200, {}, {"access_token": "narrow", "token_type": "Bearer"}
    return 200, {}, {"access_token": "own", "expires_in": 3600}


@pytest.fixture(scope="module")
def running() -> Iterator[TokenService]:
    with running_token_service(both_tokens) as service:
        yield service


@pytest.fixture
def service(running: TokenService) -> TokenService:
    running.asked.clear()
    running.answer = both_tokens
    return running


@pytest.fixture(scope="module")
def private_key() -> rsa.RSAPrivateKey:
    return rsa.generate_private_key(65537, 2048)


def vend(service, key, location="gs://b/lake/t"):
    options = {
        "token": google_key(key, f"{service.url}/own"),
        "vend_sts_endpoint_url": f"{service.url}/sts",
    }
    now = datetime.now(UTC)
    return open_vendor(location, options).vend(lifetime_s=3600, now=now)


def boundary_of(service: TokenService) -> Any:  # noqa: ANN401 (JSON)
    return json.loads(unquote(service.asked[-1].form["options"]))


def test_the_token_reads_and_lists_below_the_folder_alone(service, private_key):
    found = vend(service, private_key)

    own, exchange = service.asked
    assert found.secret == OAuthToken("narrow")
    assert (own.path, exchange.path) == ("/own", "/sts")
    assert exchange.form["grant_type"].endswith(":token-exchange")
    (rule,) = boundary_of(service)["accessBoundary"]["accessBoundaryRules"]
    assert rule == {
        "availableResource": "//storage.googleapis.com/projects/_/buckets/b",
        "availablePermissions": ["inRole:roles/storage.objectViewer"],
        "availabilityCondition": {
            "expression": (
                'resource.name.startsWith("projects/_/buckets/b/objects/lake/t/") ||'
                " api.getAttribute('storage.googleapis.com/objectListPrefix', '')"
                '.startsWith("lake/t/")'
            )
        },
    }


def test_it_ends_with_the_one_that_it_was_traded_for(service, private_key):
    left = vend(service, private_key).expires_at - datetime.now(UTC)

    assert timedelta(minutes=54) < left <= timedelta(hours=1)


def test_a_name_with_quotes_stays_a_text_of_the_condition(service, private_key):
    vend(service, private_key, "gs://b/a\" || true || '\\x/t")

    (rule,) = boundary_of(service)["accessBoundary"]["accessBoundaryRules"]
    expression = rule["availabilityCondition"]["expression"]
    assert r'startsWith("a\" || true || ' in expression
    assert r"'\\x/t/" in expression


@pytest.mark.parametrize(
    ("answer", "said"),
    [
        ((400, {}, {"error": "invalid_grant", "error_description": "own"}), "invalid_"),
        ((403, {}, {"error": {"status": "DENIED", "message": "own"}}), "Error"),
        ((401, {}, b"own"), "Error"),
        ((200, {}, b"<html>own"), "Error"),
    ],
)
def test_a_refusal_is_a_sentence_without_what_was_asked(
    service, private_key, answer, said
):
    for refused in ("/own", "/sts"):
        service.answer = lambda asked, refused=refused: (
            answer if asked.path == refused else both_tokens(asked)
        )

        with pytest.raises(VendingRefusedError, match=said) as caught:
            vend(service, private_key)

        assert "own" not in str(caught.value)
        assert "storage.objectViewer" in caught.value.hint
