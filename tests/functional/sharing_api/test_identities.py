"""Recipients whom an OIDC issuer vouches for."""

from datetime import timedelta
from typing import Any

import pytest
from django.utils import timezone
from joserfc.jwk import RSAKey
from pytest_django import Settings

from apps.audit.models import AuditEvent
from apps.pages.actions import command_stamp
from apps.sharing.access.errors import ClientTakenError
from apps.sharing.api import authentication
from apps.sharing.issuing import proofs, tokens
from apps.sharing.models import Recipient, RecipientToken
from deltaweb.sharing.oauth import issuer_keys as issuers
from tests.functional.sharing_api.calls import (
    Answer,
    Caller,
    Lake,
    error,
    files,
    refused,
)
from tests.functional.sharing_api.conftest import NewCaller
from tests.support import cases
from tests.support.local_issuer import LocalIssuer, running_issuer
from tests.support.oauth_tokens import signed, signed_by_public_key, unsigned

DAY = timedelta(days=1)
KEY, NEXT_KEY, STRANGE_KEY = (RSAKey.generate_key(2048) for _ in range(3))
AUDIENCE = "deltaweb"


def federate(recipient: Recipient, issuer: LocalIssuer, **whom: str) -> RecipientToken:
    """Let a recipient in by tokens of an issuer."""
    proof = proofs.by_issuer(issuer=issuer.url, audience=AUDIENCE, **whom)
    facts: Any = {"stamp": command_stamp()}
    return tokens.issue_token(recipient, proof=proof, lifetime=DAY, **facts)


def claims(issuer: LocalIssuer, **changed: Any) -> dict[str, Any]:  # noqa: ANN401 (JSON)
    """Claims about the service of globex that are good."""
    now = int(timezone.now().timestamp())
    found = {"iss": issuer.url, "aud": AUDIENCE, "sub": "svc-7", "exp": now + 600}
    return {name: v for name, v in (found | changed).items() if v is not None}


@pytest.fixture(autouse=True)
def _hosts(settings: Settings) -> None:
    """The issuer of these tests is of this machine, and no keys are kept of before."""
    settings.STORAGE_HOSTS = ["127.0.0.1"]
    authentication.forget_issuers()


@pytest.fixture
def issuer():
    with running_issuer() as found:
        found.keys = [KEY]
        yield found


@pytest.fixture
def globex(lake: Lake, new_caller: NewCaller, issuer: LocalIssuer) -> Caller:
    """A recipient with a bearer token and an identity."""
    caller = new_caller("globex", lake.shared.share)
    federate(caller.recipient, issuer, subject="svc-7")
    return caller


def shares(caller: Caller, token: str) -> Answer:
    """What a caller gets with a token of the issuer."""
    return caller.get("/shares", Authorization=f"Bearer {token}")


class TestIdentity:
    def test_reads_what_is_granted(self, globex, lake, issuer):
        bearer = {"Authorization": f"Bearer {signed(KEY, claims(issuer))}"}

        assert len(files(globex.query(lake.path, **bearer))) == 3
        event = AuditEvent.objects.filter(action="table.query").get()
        assert (event.recipient, event.status) == ("globex", 200)

    def test_is_found_by_a_group(self, issuer, new_caller):
        acme = new_caller("acme")
        federate(acme.recipient, issuer, group="analysts")
        token = signed(KEY, claims(issuer, sub="ada", groups=["x", "analysts"]))

        assert shares(acme, token).status_code == 200
        event = AuditEvent.objects.latest("at")
        assert event.recipient == "acme"

    def test_is_its_subject_before_its_groups(self, globex, issuer, new_caller):
        federate(new_caller("acme").recipient, issuer, group="analysts")
        token = signed(KEY, claims(issuer, groups=["analysts"]))

        assert shares(globex, token).status_code == 200
        assert AuditEvent.objects.latest("at").recipient == "globex"

    def test_of_two_recipients_is_none(self, globex, issuer, new_caller):
        for name in ("a", "b"):
            federate(new_caller(name).recipient, issuer, group=name)
        token = signed(KEY, claims(issuer, sub="ada", groups=["a", "b"]))

        assert "several recipients" in error(shares(globex, token))["message"]

    def test_belongs_to_one_recipient(self, globex, issuer, new_caller):
        assert globex.recipient.tokens.count() == 2
        with pytest.raises(ClientTakenError, match="globex"):
            federate(new_caller("acme").recipient, issuer, subject="svc-7")

    def test_ends_with_a_revocation(self, globex, issuer):
        token = signed(KEY, claims(issuer))
        assert shares(globex, token).status_code == 200
        client = globex.recipient.tokens.get(kind=RecipientToken.Kind.FEDERATED)

        tokens.revoke(client, stamp=command_stamp())

        assert shares(globex, token).status_code == 401
        assert globex.get("/shares").status_code == 200

    @cases(
        "changed",
        {
            "for somebody else": {"aud": "another"},
            "for several others": {"aud": ["another", 7]},
            "for nobody": {"aud": None},
            "about somebody else": {"sub": "svc-8"},
            "about nobody": {"sub": None},
            "about a list": {"sub": ["svc-7"]},
            "over": {"exp": 1},
            "endless": {"exp": None},
            "not yet": {"nbf": 10**10},
            "of another issuer": {"iss": "https://elsewhere.example"},
            "of nobody": {"iss": None},
            "of a number": {"iss": 7},
            "of a NUL": {"iss": "\0"},
            "huge": {"x": "y" * 30_000},
        },
    )
    def test_is_held_to_every_claim(self, globex, issuer, changed):
        answer = shares(globex, signed(KEY, claims(issuer, **changed)))

        refused(answer, "UNAUTHENTICATED", 401)

    @cases(
        "forged",
        {
            "alg none": unsigned,
            "HS256": lambda found: signed_by_public_key(KEY, found),
            "another key": lambda found: signed(STRANGE_KEY, found),
            "another key of its name": lambda found: signed(
                STRANGE_KEY, found, kid=KEY.thumbprint()
            ),
            "changed": lambda found: signed(KEY, found)[:-4] + "AAAA",
        },
    )
    def test_is_held_to_its_signature(self, globex, issuer, forged):
        refused(shares(globex, forged(claims(issuer))), "UNAUTHENTICATED", 401)

    @pytest.mark.parametrize(("off_s", "status"), [(30, 200), (90, 401)])
    def test_may_come_from_a_clock_that_is_a_little_off(
        self, globex, issuer, off_s, status
    ):
        now = int(timezone.now().timestamp())
        for late in ({"exp": now - off_s}, {"nbf": now + off_s}):
            answer = shares(globex, signed(KEY, claims(issuer, **late)))
            assert answer.status_code == status


class TestKeys:
    def test_are_asked_for_once(self, globex, issuer):
        for _ in range(5):
            assert shares(globex, signed(KEY, claims(issuer))).status_code == 200

        assert issuer.asked == ["/.well-known/openid-configuration", "/jwks"]

    def test_that_were_rotated_are_asked_for_again(self, globex, issuer, monkeypatch):
        shares(globex, signed(KEY, claims(issuer)))
        issuer.keys = [NEXT_KEY]
        token = signed(NEXT_KEY, claims(issuer))

        assert shares(globex, token).status_code == 401  # asked for a moment ago
        assert len(issuer.asked) == 2

        monkeypatch.setattr(issuers, "MIN_AGE", timedelta(0))
        assert shares(globex, token).status_code == 200
        assert shares(globex, signed(KEY, claims(issuer))).status_code == 401

    def test_that_were_invented_do_not_make_it_ask_again(self, globex, issuer):
        for number in range(5):
            shares(globex, signed(STRANGE_KEY, claims(issuer), kid=str(number)))

        assert len(issuer.asked) == 2

    def test_of_issuers_that_nobody_named_are_never_asked_for(self, globex):
        with running_issuer() as stranger:
            stranger.keys = [KEY]

            assert shares(globex, signed(KEY, claims(stranger))).status_code == 401
            assert stranger.asked == []

    @cases(
        "discovery",
        {
            "another issuer": {"issuer": "https://elsewhere.example"},
            "no keys": {"jwks_uri": None},
            "a private network": {"jwks_uri": "http://10.0.0.1/jwks"},
            "a file": {"jwks_uri": "file:///etc/passwd"},
            "no address": {"jwks_uri": "http://[::1"},
            "nobody there": {"jwks_uri": "http://127.0.0.1:1/"},
        },
    )
    def test_are_not_had_from_documents_that_lead_elsewhere(
        self, globex, issuer, discovery
    ):
        issuer.discovery = discovery

        answer = shares(globex, signed(KEY, claims(issuer)))

        assert "cannot be fetched" in refused(answer, "UNAUTHENTICATED", 401)

    def test_are_not_asked_for_in_the_own_network(self, globex, issuer, settings):
        settings.STORAGE_HOSTS = []

        answer = shares(globex, signed(KEY, claims(issuer)))

        assert answer.status_code == 401
        assert issuer.asked == []
