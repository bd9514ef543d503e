"""OAuth clients: what they trade for an access token, and what opens nothing."""

import base64
import json
from datetime import timedelta
from typing import Any
from urllib.parse import urlencode

import pytest
from django.test import Client
from django.utils import timezone
from joserfc.jwk import ECKey, OKPKey, RSAKey

from apps.audit.models import AuditEvent
from apps.pages.actions import command_stamp
from apps.sharing.api.authentication import oauth_server
from apps.sharing.issuing import proofs, tokens
from apps.sharing.models import Recipient, RecipientToken, UsedAssertion
from deltaweb.sharing.oauth.access_token import new_access_token
from tests.functional.sharing_api.calls import PREFIX, Answer, Caller, Lake, refused
from tests.functional.sharing_api.conftest import NewCaller
from tests.support import cases
from tests.support.oauth_tokens import (
    public_pem,
    signed,
    signed_by_public_key,
    unsigned,
)
from tests.support.pages.factories import new_share

DAY = timedelta(days=1)
ISSUER = f"http://127.0.0.1:8000{PREFIX}/"
JWT_BEARER = "urn:ietf:params:oauth:grant-type:jwt-bearer"
CREDENTIALS = {"grant_type": "client_credentials"}
KEY = RSAKey.generate_key(2048)


def new_client(recipient: Recipient, proof: proofs.Proof) -> tuple[RecipientToken, str]:
    """An OAuth client of a recipient, and its secret, if it has one."""
    facts: Any = {"stamp": command_stamp()}
    token = tokens.issue_token(recipient, proof=proof, lifetime=DAY, **facts)
    if not proof.has_secret:
        return token, ""
    profile = json.loads(tokens.issue_profile(token, **facts).to_json())
    token.refresh_from_db()
    return token, profile["clientSecret"]


def trade(form: dict[str, str] | bytes, **headers: str) -> Answer:
    """POST a form to the token endpoint."""
    body = form if isinstance(form, bytes) else urlencode(form).encode()
    return Client(raise_request_exception=False).post(
        f"{PREFIX}/oauth/token",
        body,
        content_type="application/x-www-form-urlencoded",
        headers=headers,
    )


def basic(client_id: str, secret: str) -> dict[str, str]:
    """The header of a client with a secret."""
    pair = base64.b64encode(f"{client_id}:{secret}".encode()).decode()
    return {"Authorization": f"Basic {pair}"}


def bearer(token: str) -> dict[str, str]:
    """The header of who has a token."""
    return {"Authorization": f"Bearer {token}"}


def by_key(caller, key=KEY):
    """A client of a recipient that proves itself by a key of its own."""
    return new_client(caller.recipient, proofs.by_key(public_pem(key)))[0]


def trade_assertion(assertion: str) -> Answer:
    """POST what a key has signed."""
    return trade({"grant_type": JWT_BEARER, "assertion": assertion})


def refusal(answer: Answer, status: int = 401) -> dict[str, str]:
    """The body of an error of the token endpoint, which is of both forms."""
    assert answer.status_code == status
    body = json.loads(answer.content)
    assert set(body) == {"error", "error_description", "errorCode", "message"}
    return body


def claims_of(client: RecipientToken, **changed: Any) -> dict[str, Any]:  # noqa: ANN401 (JSON)
    """The claims of an assertion that is good."""
    now = int(timezone.now().timestamp())
    found = {"iss": client.prefix, "aud": ISSUER, "iat": now, "exp": now + 120}
    return {name: v for name, v in (found | changed).items() if v is not None}


@pytest.fixture
def globex(lake: Lake, new_caller: NewCaller) -> Caller:
    """A recipient with a bearer token, who is about to move to OAuth."""
    return new_caller("globex", lake.shared.share)


class TestClientCredentials:
    @pytest.fixture
    def client(self, globex: Caller) -> tuple[RecipientToken, str]:
        return new_client(globex.recipient, proofs.CLIENT_SECRET)

    def test_are_traded_for_a_token_that_reads(self, globex, lake, client):
        token, secret = client

        answer = trade(CREDENTIALS, **basic(token.prefix, secret))

        body = json.loads(answer.content)
        assert answer.status_code == 200
        assert answer["Cache-Control"] == "no-store"
        assert (body["token_type"], body["expires_in"]) == ("Bearer", 3600)
        own = bearer(body["access_token"])
        assert globex.query(lake.path, **own).status_code == 200
        assert globex.query(lake.path).status_code == 200  # both, while it moves

    def test_may_stand_in_the_form(self, client: tuple[RecipientToken, str]) -> None:
        token, secret = client
        form = {"client_id": token.prefix, "client_secret": secret}

        assert trade({"grant_type": "client_credentials", **form}).status_code == 200

    @cases(
        "spoiled",
        {
            "secret": lambda client, secret: (client, secret + "x"),
            "no secret": lambda client, _: (client, ""),
            "name": lambda _, secret: ("dwt_00000000", secret),
            "a NUL": lambda _, secret: ("\0", secret),
            "nothing": lambda *_: ("", ""),
        },
    )
    def test_are_refused_unless_they_belong_together(self, client, spoiled):
        token, secret = client

        answer = trade(CREDENTIALS, **basic(*spoiled(token.prefix, secret)))

        assert refusal(answer)["error"] == "invalid_client"
        assert secret not in answer.content.decode()

    def test_of_a_bearer_token_are_none(self, globex: Caller) -> None:
        refusal(trade(CREDENTIALS, **basic(globex.token.prefix, globex.secret)))

    def test_open_nothing_by_themselves(self, globex, lake, client):
        _, secret = client

        assert globex.query(lake.path, **bearer(secret)).status_code == 401

    def test_end_at_once_with_what_was_traded_for_them(self, globex, lake, client):
        token, secret = client
        own = basic(token.prefix, secret)
        traded = json.loads(trade(CREDENTIALS, **own).content)["access_token"]

        tokens.revoke(token, stamp=command_stamp())

        refused(globex.query(lake.path, **bearer(traded)), "UNAUTHENTICATED", 401)
        assert trade(CREDENTIALS, **own).status_code == 401
        assert globex.query(lake.path).status_code == 200

    def test_are_held_to_the_allow_list(self, globex, client):
        token, secret = client
        globex.recipient.allowed_networks = ["10.1.0.0/16"]
        globex.recipient.save()

        assert trade(CREDENTIALS, **basic(token.prefix, secret)).status_code == 403

    def test_leave_a_record_without_the_secret(self, client) -> None:
        token, secret = client
        trade(CREDENTIALS, **basic(token.prefix, secret))

        event = AuditEvent.objects.filter(action="oauth.token").get()
        assert (event.token_id, event.status) == (token.id, 200)
        assert secret not in str(AuditEvent.objects.values())


class TestPrivateKey:
    @cases(
        "key",
        {
            "RSA": KEY,
            "P-256": ECKey.generate_key("P-256"),
            "Ed25519": OKPKey.generate_key("Ed25519"),
        },
    )
    def test_signs_an_assertion_that_is_traded(self, globex, lake, key):
        claims = claims_of(by_key(globex, key))

        answer = trade_assertion(signed(key, claims, kid="mine"))

        token = json.loads(answer.content)["access_token"]
        assert globex.query(lake.path, **bearer(token)).status_code == 200

    @cases(
        "changed",
        {
            "for somebody else": {"aud": "https://elsewhere.example"},
            "for nobody": {"aud": None},
            "of another client": {"iss": "dwt_00000000"},
            "of a list": {"iss": ["x"]},
            "of a NUL": {"iss": "\0"},
            "for another client": {"sub": "dwt_00000000"},
            "over": {"exp": 1},
            "endless": {"exp": None},
            "its end is a word": {"exp": "soon"},
            "for ages": {"exp": 10**12},
            "beyond numbers": {"exp": 10**400},
            "no number": {"exp": float("nan")},
            "not yet": {"nbf": 10**10},
            "made later": {"iat": 10**10},
            "huge": {"x": "y" * 20_000},
            "deep": {"x": [[[[[]]]]] * 100},
        },
    )
    def test_signs_nothing_else(self, globex, changed):
        assertion = signed(KEY, claims_of(by_key(globex), **changed))
        if changed.get("x") and isinstance(changed["x"], list):
            assertion = assertion[:-3] + "AAA"

        assert refusal(trade_assertion(assertion))["errorCode"] == "UNAUTHENTICATED"

    def test_signs_an_assertion_that_is_good_once(self, globex: Caller) -> None:
        client = by_key(globex)
        seen = signed(KEY, claims_of(client, jti="1"))
        assert trade_assertion(seen).status_code == 200

        again = refusal(trade_assertion(seen))

        assert again["error"] == "invalid_client"
        assert "was used before" in again["message"]
        another = signed(KEY, claims_of(client, jti="2"))
        assert trade_assertion(another).status_code == 200

    def test_signs_nothing_that_is_remembered_longer_than_it_is_good(self, globex):
        client = by_key(globex)
        trade_assertion(signed(KEY, claims_of(client, jti="1")))
        UsedAssertion.objects.update(ends_at=timezone.now())

        trade_assertion(signed(KEY, claims_of(client, jti="2")))

        (kept,) = UsedAssertion.objects.all()
        left = kept.ends_at - timezone.now()
        assert timedelta(seconds=120) < left <= timedelta(seconds=180)

    @cases(
        "forged",
        {
            "alg none": unsigned,
            "alg None": lambda claims: unsigned(claims, "None"),
            "no signature": lambda claims: unsigned(claims, "RS256"),
            "the public key": lambda claims: signed_by_public_key(KEY, claims),
            "another": lambda claims: signed(RSAKey.generate_key(2048), claims),
            "no token": lambda _: "a.b.c",
            "dots": lambda _: "." * 2,
            "no ASCII": lambda _: "\N{SNOWMAN}.a.b",
            "nothing": lambda _: "",
            "many parts": lambda _: "e." * 20_000,
        },
    )
    def test_is_not_replaced_by_another_proof(self, globex, forged):
        refusal(trade_assertion(forged(claims_of(by_key(globex)))))


@pytest.mark.django_db
class TestRequest:
    @cases(
        "form, name",
        {
            "nothing": ({}, "invalid_request"),
            "no text": (b"\xff\xfe", "invalid_request"),
            "twice": (b"&".join([b"a=b"] * 2), "invalid_request"),
            "many": (b"&".join([b"a=b"] * 99), "invalid_request"),
            "x": ({"grant_type": "password"}, "unsupported_grant_type"),
        },
    )
    def test_that_is_none_is_told_so(self, form, name):
        assert refusal(trade(form), 400)["error"] == name

    def test_that_is_too_large_is_not_read(self) -> None:
        assert trade(b"x" * 100_000).status_code == 413

    def test_by_get_is_refused_in_the_same_form(self) -> None:
        answer = Client().get(f"{PREFIX}/oauth/token")

        assert refusal(answer, 405)["error"] == "invalid_request"


class TestAccessToken:
    @pytest.fixture
    def client(self, globex: Caller) -> RecipientToken:
        return new_client(globex.recipient, proofs.CLIENT_SECRET)[0]

    def made(self, client: RecipientToken, **changed: Any) -> str:  # noqa: ANN401 (facts)
        now = timezone.now()
        facts: Any = {"keys": oauth_server().keys, "issuer": ISSUER, "now": now}
        facts |= {"ends_at": now + DAY} | changed
        return new_access_token(client.id, **facts)[0]

    def test_opens_what_is_granted_and_nothing_else(self, globex, lake, client):
        other = new_share("Theirs")
        own = bearer(self.made(client))

        granted = globex.get(f"/shares/{lake.shared.share.name}", **own)
        assert granted.status_code == 200
        assert globex.get(f"/shares/{other.name}", **own).status_code == 404

    @cases(
        "changed",
        {
            "by another key": {"keys": [b"k" * 32]},
            "of others": {"issuer": "https://elsewhere.example/"},
            "over": {"now": timezone.now() - DAY},
            "of tomorrow": {
                "now": timezone.now() + DAY,
                "ends_at": timezone.now() + 3 * DAY,
            },
        },
    )
    def test_is_refused_unless_it_was_made_here_and_now(self, globex, client, changed):
        answer = globex.get("/shares", **bearer(self.made(client, **changed)))

        refused(answer, "UNAUTHENTICATED", 401)
        assert answer["WWW-Authenticate"] == "Bearer"

    def test_of_a_client_that_is_gone_opens_nothing(self, globex, client):
        token = self.made(client)
        client.delete()

        assert globex.get("/shares", **bearer(token)).status_code == 401
