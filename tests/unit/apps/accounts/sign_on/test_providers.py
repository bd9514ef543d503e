"""Tokens as providers document them, with the settings of the manual for each.

The claims are those of the examples in the documentation of each provider: Keycloak's
"Group Membership" mapper, Entra's "ID token claims reference" and "group overages",
Okta's "Customize tokens returned from Okta with a Groups claim", and Google's "OpenID
Connect: an ID token's payload". Times, hashes and keys are ours.
"""

from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from typing import Any, Final

import pytest
from joserfc.jwk import RSAKey
from pytest_django import Settings

from apps.accounts.models import Identity, Invitation
from apps.accounts.sign_on.admission import rules_of_settings, verdict_of
from apps.accounts.sign_on.check import check_claims
from apps.accounts.sign_on.claims import person_of
from apps.accounts.sign_on.people import sign_on
from apps.pages.actions import Actor, Stamp
from deltaweb.sharing.oauth.errors import IssuerInvalidError, JWTRefusedError
from deltaweb.sharing.oauth.issuer_documents import fetch_provider
from deltaweb.sharing.oauth.signed_claims import ASYMMETRIC, Expected, checked_claims
from tests.support.oauth_tokens import signed

pytestmark = [pytest.mark.django_db, pytest.mark.database]
NOW: Final = datetime(2026, 11, 30, 12, tzinfo=UTC)
KEY: Final = RSAKey.generate_key(2048)
TENANT: Final = "9122040d-6c67-4c5b-b112-36a304b66dad"
ANALYSTS: Final = "0b5d1f4e-3f1b-4a1f-9d55-7c0ce2f6a1e2"
OTHERS: Final = "6f1c9c0f-7d6b-4f5a-8b53-8b2f7f0f6b52"
TIMES: Final = {
    "iat": int(NOW.timestamp()),
    "exp": int((NOW + timedelta(hours=1)).timestamp()),
}
KEYCLOAK: Final = {
    **TIMES,
    "iss": "https://id.example.com/realms/company",
    "aud": "deltaweb",
    "azp": "deltaweb",
    "typ": "ID",
    "sub": "f1a9d0a2-6c0e-4e8c-9d1b-0c7b3d2a9e11",
    "sid": "7a0b8d1e-5b2e-4f2d-8f2c-0b1c2d3e4f5a",
    "acr": "1",
    "auth_time": int(NOW.timestamp()),
    "name": "Anna Berg",
    "preferred_username": "anna",
    "email": "anna@example.com",
    "email_verified": True,
    "groups": ["data"],
}
ENTRA: Final = {
    **TIMES,
    "ver": "2.0",
    "iss": f"https://login.microsoftonline.com/{TENANT}/v2.0",
    "aud": "6cb04018-a3f5-46a7-b995-940c78f5aef3",
    "nbf": int(NOW.timestamp()),
    "sub": "AAAAAAAAAAAAAAAAAAAAAIkzqFVrSaSaFHy782bbtaQ",
    "name": "Anna Berg",
    "preferred_username": "anna@example.com",
    "oid": "00000000-0000-0000-66f3-3332eca7ea81",
    "tid": TENANT,
    "aio": "Df2UVXL1ix!lMCWMSOJBcFatzcGfvFGhjKv8q5g0x732dR5MB5BisvGQ",
    "groups": [ANALYSTS],
}
OVERAGE: Final = {
    **{name: value for name, value in ENTRA.items() if name != "groups"},
    "_claim_names": {"groups": "src1"},
    "_claim_sources": {
        "src1": {
            "endpoint": f"https://graph.microsoft.com/v1.0/users/{ENTRA['oid']}/getMemberObjects"
        }
    },
}
OKTA: Final = {
    **TIMES,
    "ver": 1,
    "iss": "https://company.okta.com",
    "aud": "0oabucvyc38HLL1ef0h7",
    "sub": "00uid4BxXw6I6TV4m0g3",
    "jti": "ID.4eAWJOCMB3SX8XewDfVR",
    "amr": ["pwd"],
    "idp": "00o6clcfgk1kFmI1e0h7",
    "auth_time": int(NOW.timestamp()),
    "preferred_username": "anna@example.com",
    "email": "anna@example.com",
    "groups": ["Everyone", "data"],
}
GOOGLE: Final = {
    **TIMES,
    "iss": "https://accounts.google.com",
    "azp": "1234987819200.apps.googleusercontent.com",
    "aud": "1234987819200.apps.googleusercontent.com",
    "sub": "10769150350006150715113082367",
    "at_hash": "HK6E_P6Dh8Y93mRNtsDB1Q",
    "hd": "example.com",
    "email": "anna@example.com",
    "email_verified": True,
}
CUSTOM: Final = "https://company.okta.com/oauth2/default"
BY_NAME: Final = {"SSO_REQUIRED_GROUPS": ["data"]}
BY_PATH: Final = {"SSO_REQUIRED_GROUPS": ["/data"]}
BY_ID: Final = {"SSO_REQUIRED_GROUPS": [ANALYSTS]}
BY_WORKSPACE: Final = {
    "SSO_REQUIRED_CLAIMS": [("hd", "example.com")],
    "OIDC_NAME_CLAIM": "email",
}
BY_DOMAIN: Final = {"SSO_DOMAINS": ["example.com"]}


def but(token: Mapping[str, Any], *missing: str, **changed: object) -> dict[str, Any]:
    """Return a token without some claims, and with others."""
    return {
        name: value
        for name, value in {**token, **changed}.items()
        if name not in missing
    }


# Settings of the manual, a token, and whether the person is admitted.
CASES: Final = {
    "Keycloak: a group": (BY_NAME, KEYCLOAK, True),
    "Keycloak: another group": (BY_NAME, but(KEYCLOAK, groups=["other"]), False),
    "Keycloak: no mapper": (BY_NAME, but(KEYCLOAK, "groups"), False),
    "Keycloak: a path": (BY_PATH, but(KEYCLOAK, groups=["/data"]), True),
    "Keycloak: a path, and a name": (BY_NAME, but(KEYCLOAK, groups=["/data"]), False),
    "Keycloak: a path of another parent": (
        BY_PATH,
        but(KEYCLOAK, groups=["/guests/data"]),
        False,
    ),
    "Keycloak: a path below": (BY_PATH, but(KEYCLOAK, groups=["/data/eu"]), False),
    "Keycloak: roles are no groups": (
        BY_NAME,
        but(KEYCLOAK, "groups", realm_access={"roles": ["data"]}),
        False,
    ),
    "Entra: the id of a group": (BY_ID, ENTRA, True),
    "Entra: another id": (BY_ID, but(ENTRA, groups=[OTHERS]), False),
    "Entra: too many groups": (BY_ID, OVERAGE, False),
    "Entra: too many groups, implicit": (
        BY_ID,
        but(ENTRA, "groups", hasgroups=True),
        False,
    ),
    "Entra: a source named like the id": (
        BY_ID,
        but(OVERAGE, _claim_names={"groups": ANALYSTS}),
        False,
    ),
    "Entra: a domain that nobody verified": (
        BY_DOMAIN,
        but(ENTRA, email="anna@example.com"),
        False,
    ),
    "Entra: xms_edov is not email_verified": (
        BY_DOMAIN,
        but(ENTRA, email="anna@example.com", xms_edov=True),
        False,
    ),
    "Okta: a group": (BY_NAME, OKTA, True),
    "Okta: everyone else": (BY_NAME, but(OKTA, groups=["Everyone"]), False),
    "Okta: no filter": (BY_NAME, but(OKTA, "groups"), False),
    "Okta: an authorization server": (BY_NAME, but(OKTA, iss=CUSTOM), True),
    "Google: the Workspace": (BY_WORKSPACE, GOOGLE, True),
    "Google: another Workspace": (BY_WORKSPACE, but(GOOGLE, hd="evil.example"), False),
    "Google: a private account": (
        BY_WORKSPACE,
        but(GOOGLE, "hd", email="anna@gmail.com"),
        False,
    ),
    "Google: a private account with an address of the company": (
        BY_WORKSPACE,
        but(GOOGLE, "hd"),
        False,
    ),
    "Google: it has no groups": (BY_NAME, GOOGLE, False),
    "Google: an address that is not verified": (
        BY_DOMAIN,
        but(GOOGLE, email_verified=False),
        False,
    ),
}


@pytest.fixture
def stamp() -> Stamp:
    return Stamp(Actor(name="test", user_id=None), NOW)


def set_up(settings: Settings, rules: Mapping[str, object], issuer: object) -> None:
    settings.OIDC_ISSUER = issuer
    for name, value in rules.items():
        setattr(settings, name, value)


@pytest.mark.parametrize(("rules", "token", "admitted"), CASES.values(), ids=CASES)
def test_documented_settings_admit_the_right_people(
    settings: Settings,
    rules: dict[str, object],
    token: dict[str, Any],
    stamp: Stamp,
    *,
    admitted: bool,
) -> None:
    set_up(settings, rules, token["iss"])
    claims = accepted(token, issuer=token["iss"])
    person = person_of(claims, {})
    verdict = verdict_of(person, rules_of_settings(), invited=False)
    assert verdict.admitted is admitted
    assert check_claims(claims, stamp).admitted is admitted  # `deltaweb sso check`
    if admitted:
        identity = sign_on(person, rules_of_settings(), stamp)
        assert (identity.issuer, identity.subject) == (token["iss"], token["sub"])
        groups = {one.group.name for one in identity.user.memberships.all()}
        assert groups == set(token.get("groups", ()))
    else:
        assert not Identity.objects.exists()


def accepted(token: Mapping[str, Any], *, issuer: str) -> dict[str, Any]:
    """Return the claims of a token that the provider signed, as sign-on checks them."""
    expected = Expected(
        issuer=issuer,
        audiences=[token["aud"]],
        client=token["aud"],
        nonce="n-0S6_WzA2Mj",
        now=NOW,
        max_life=timedelta(days=1),
    )
    text = signed(KEY, {**token, "nonce": "n-0S6_WzA2Mj"})
    return checked_claims(text, KEY, expected, algorithms=ASYMMETRIC)


@pytest.mark.parametrize(
    ("token", "issuer"),
    [
        (KEYCLOAK, "https://id.example.com/realms/master"),
        (ENTRA, f"https://login.microsoftonline.com/{OTHERS}/v2.0"),
        (ENTRA, "https://login.microsoftonline.com/{tenantid}/v2.0"),
        (ENTRA, f"https://sts.windows.net/{TENANT}/"),
        (OKTA, CUSTOM),
        (but(OKTA, iss=CUSTOM), "https://company.okta.com"),
        (GOOGLE, "accounts.google.com"),
        (but(GOOGLE, iss="accounts.google.com"), "https://accounts.google.com"),
    ],
)
def test_a_token_of_another_issuer_is_refused(
    token: dict[str, Any], issuer: str
) -> None:
    with pytest.raises(JWTRefusedError, match="iss"):
        accepted(token, issuer=issuer)


@pytest.mark.parametrize("tenant", ["common", "organizations", "example.com"])
def test_entra_for_every_tenant_is_no_issuer(tenant: str) -> None:
    """Their documents name `{tenantid}`, or the id of the tenant, as the issuer."""
    named = TENANT if tenant == "example.com" else "{tenantid}"
    document = f'{{"issuer": "https://login.microsoftonline.com/{named}/v2.0"}}'
    asked = f"https://login.microsoftonline.com/{tenant}/v2.0"
    with pytest.raises(IssuerInvalidError, match="another issuer"):
        fetch_provider(asked, fetch=lambda _: document.encode())


def test_groups_that_entra_left_out_are_explained(
    settings: Settings, stamp: Stamp
) -> None:
    set_up(settings, BY_ID, OVERAGE["iss"])
    found = check_claims(OVERAGE, stamp)
    assert any("Groups assigned to the application" in one for one in found.reasons)


def test_okta_says_more_in_userinfo(settings: Settings) -> None:
    """The id token of the code flow has no profile if it comes with an access token."""
    set_up(settings, BY_NAME | BY_DOMAIN, OKTA["iss"])
    thin = but(OKTA, "groups", "email", "preferred_username")
    said = {
        "sub": OKTA["sub"],
        "preferred_username": "anna@example.com",
        "email": "anna@example.com",
        "email_verified": True,
        "groups": ["Everyone", "data"],
    }
    assert verdict_of(
        person_of(thin, said), rules_of_settings(), invited=False
    ).admitted
    other = but(said, email_verified=False)
    found = verdict_of(person_of(thin, other), rules_of_settings(), invited=False)
    assert not found.admitted


def test_a_group_of_google_never_comes_from_an_invitation(
    settings: Settings, stamp: Stamp
) -> None:
    """An invitation admits a verified address, and gives no group."""
    set_up(settings, BY_NAME, GOOGLE["iss"])
    Invitation.objects.create(
        email="anna@example.com",
        invited_by="admin",
        created_at=NOW,
        expires_at=NOW + timedelta(days=1),
    )
    stranger = person_of(but(GOOGLE, "email_verified"), {})
    assert not check_claims(but(GOOGLE, "email_verified"), stamp).admitted
    assert stranger.verified_email == ""
    identity = sign_on(person_of(GOOGLE, {}), rules_of_settings(), stamp)
    assert not identity.user.memberships.exists()
