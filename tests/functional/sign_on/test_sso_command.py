"""`deltaweb sso check`, and what administrators do for people who sign on."""

import json
from io import StringIO
from typing import Any

import pytest
from django.core.management import CommandError, call_command
from joserfc.jwk import RSAKey
from pytest_django import Settings

from apps.accounts.models import Identity, Invitation, User
from apps.accounts.sign_on import provider as asked
from tests.functional.sign_on.conftest import Provider, Walker
from tests.support.local_issuer import running_issuer
from tests.support.pages.factories import new_user

pytestmark = [pytest.mark.django_db, pytest.mark.database]


def _run(*words: str) -> tuple[dict[str, Any], bool]:
    """Return the JSON of a command, and whether it failed."""
    out = StringIO()
    try:
        call_command(*words, "--json", stdout=out)
    except CommandError:
        return json.loads(out.getvalue()), True
    return json.loads(out.getvalue()), False


def _states(found: dict[str, Any]) -> dict[str, str]:
    return {one["name"]: one["state"] for one in found["findings"]}


def test_without_sign_on_it_says_what_to_set() -> None:
    found, failed = _run("sso", "check")
    assert failed
    assert _states(found)["sign-on"] == "problem"


@pytest.mark.usefixtures("provider")
def test_a_good_set_up_has_no_problem() -> None:
    new_user("admin", role=User.Role.ADMIN)
    found, failed = _run("sso", "check")
    assert not failed, found
    assert _states(found)["discovery"] == _states(found)["clock"] == "ok"
    assert _states(found)["admission"] == "ok"


def test_a_provider_that_is_down_and_no_administrator_are_problems(
    provider: Provider, settings: Settings
) -> None:
    settings.OIDC_ISSUER = provider.issuer + "/other"
    found, failed = _run("sso", "check")
    assert failed
    assert _states(found)["discovery"] == "problem"
    assert _states(found)["local administrator"] == "problem"


@pytest.mark.parametrize(
    ("algorithms", "is_problem"),
    [(["HS256"], True), (["EdDSA", "HS256"], True), (["HS256", "RS256"], False)],
)
def test_signatures_that_nothing_here_checks_are_a_problem(
    settings: Settings, algorithms: list[str], *, is_problem: bool
) -> None:
    new_user("admin", role=User.Role.ADMIN)
    asked.forget()
    with running_issuer() as issuer:
        settings.OIDC_ISSUER, settings.HAS_SIGN_ON = issuer.url, True
        issuer.keys.append(RSAKey.generate_key(2048))
        issuer.discovery["id_token_signing_alg_values_supported"] = algorithms
        found, failed = _run("sso", "check")
    assert ("signature" in _states(found)) is failed is is_problem


@pytest.mark.usefixtures("provider")
@pytest.mark.parametrize(
    ("claims", "admitted"),
    [
        ({"sub": "1", "groups": ["data"]}, True),
        ({"sub": "1", "groups": "data"}, True),
        ({"sub": "1"}, False),
        ({"sub": "1", "groups": {"data": 1}}, False),
        ({"groups": ["data"]}, False),
    ],
)
def test_it_says_who_would_be_admitted(
    claims: dict[str, object], *, admitted: bool
) -> None:
    found, failed = _run("sso", "check", "--claims", json.dumps(claims))
    assert found["admitted"] is admitted is not failed
    assert found["reasons"]
    assert not User.objects.exists()


def test_an_account_is_linked_and_made_local_again(
    walker: Walker, settings: Settings
) -> None:
    settings.SSO_REQUIRED_GROUPS = []
    new_user("admin", role=User.Role.ADMIN)
    user = new_user("zoe", role=User.Role.EDITOR)
    _run("user", "identity", "zoe", "--subject", "eve")
    walker.sign_in("eve")
    assert walker.client.get("/me.json").json()["name"] == "zoe"
    _run("user", "identity", "zoe", "--remove")
    assert walker.client.get("/me.json").status_code == 401
    assert not Identity.objects.filter(user=user).exists()


@pytest.mark.usefixtures("provider")
def test_the_last_local_administrator_is_never_linked() -> None:
    new_user("admin", role=User.Role.ADMIN)
    found, failed = _run("user", "identity", "admin", "--subject", "ann")
    assert failed
    assert found["error"] == "last-admin"


def test_an_invitation_admits_a_verified_address(
    walker: Walker, settings: Settings
) -> None:
    settings.SSO_REQUIRED_GROUPS = []
    _run("user", "invite", "EVE@example.org", "--role", "editor")
    assert walker.sign_in("eve").status_code == 302
    assert walker.client.get("/me.json").json()["role"] == "editor"
    assert not Invitation.objects.exists()
