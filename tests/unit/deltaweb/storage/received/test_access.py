"""Access tokens: fetched by an OAuth client, kept while they hold, and never shown."""

import base64
import itertools
import json
from urllib.parse import parse_qs

import pytest

from deltaweb.delta.errors import DeltaError
from deltaweb.storage.received.budget import LookBounds
from deltaweb.storage.received.client import SharingClient
from deltaweb.storage.received.errors import (
    ProviderAnswerError,
    ProviderHostError,
    ProviderRefusedError,
)
from deltaweb.storage.received.profile import OAuthClient, Profile, SharedName
from deltaweb.storage.received.transport import Transport
from tests.support.stores.sharing_provider import (
    HERE,
    Handler,
    Provider,
    provider_running,
)

SECRET = "s3cret"
TABLE = SharedName("s", "c", "t")
VERSION = f"{TABLE.path}/version"


class Issuer:
    """Gives out tokens at `/token`, and takes the newest `is_good` ones."""

    def __init__(
        self, provider: Provider, secret: str = SECRET, **more: object
    ) -> None:
        self.provider, self.secret, self.more = provider, secret, more
        self.numbers = itertools.count(1)
        self.forms: list[dict[str, list[str]]] = []
        self.is_good = lambda number: number > 0
        provider.answers |= {"/token": self.give, VERSION: self.take}

    def give(self, asked: Handler) -> None:
        proof = base64.b64decode(asked.headers["Authorization"].split()[1]).decode()
        self.forms.append(parse_qs(asked.body.decode()))
        if proof != f"me:{self.secret}":
            asked.say(401, b'{"error":"invalid_client"}')
            return
        token = {"access_token": f"token.{next(self.numbers)}", "token_type": "bearer"}
        asked.say(200, json.dumps({**token, **self.more}).encode())

    def take(self, asked: Handler) -> None:
        number = int(asked.headers["Authorization"].removeprefix("Bearer token."))
        status = 200 if self.is_good(number) else 401
        asked.say(status, b"", Delta_Table_Version=str(number))

    def client(self, secret: str = SECRET, **bounds: float) -> SharingClient:
        client = OAuthClient(f"{self.provider.endpoint}/token", "me", secret, "shares")
        profile = Profile(self.provider.endpoint, client=client)
        return SharingClient(profile, Transport(HERE), "acme", LookBounds(**bounds))  # type: ignore[arg-type]

    @property
    def num_given(self) -> int:
        return self.provider.asked.count("POST /token")


def test_a_token_is_fetched_once_for_all_looks(provider: Provider) -> None:
    issuer = Issuer(provider, expires_in=3600)

    versions = [issuer.client().version(TABLE) for _ in range(3)]
    versions.append(issuer.client().begin_look().version(TABLE))

    assert versions == [1, 1, 1, 1]
    assert issuer.forms == [{"grant_type": ["client_credentials"], "scope": ["shares"]}]


@pytest.mark.parametrize("lifetime", [0, "0", 1, "1"])
def test_a_token_that_ends_is_renewed_before(provider, monkeypatch, lifetime) -> None:
    issuer = Issuer(provider, expires_in=lifetime)
    client = issuer.client()
    clock = itertools.count(0, 2.0)
    monkeypatch.setattr(
        "deltaweb.storage.received.access.time.monotonic", lambda: next(clock)
    )

    assert [client.version(TABLE) for _ in range(2)] == [1, 2]


@pytest.mark.parametrize("lifetime", [None, "soon", -1, 1.5, 10**30, "3600", 3600.0])
def test_other_lifetimes_do_no_harm(provider: Provider, lifetime: object) -> None:
    issuer = Issuer(provider, expires_in=lifetime)
    client = issuer.client()

    assert [client.version(TABLE) for _ in range(2)] == [1, 1]


def test_a_token_that_is_refused_is_renewed_once(provider: Provider) -> None:
    issuer = Issuer(provider, expires_in=3600)
    client = issuer.client()
    client.version(TABLE)
    issuer.is_good = lambda number: number >= 2

    assert client.version(TABLE) == 2

    issuer.is_good = lambda _number: False
    with pytest.raises(ProviderRefusedError, match="HTTP 401"):
        client.version(TABLE)
    assert issuer.num_given == 3


@pytest.mark.parametrize("secret", ["a+b/c==", "100%", "a b:c", "é"])
def test_a_secret_is_sent_as_it_is_and_as_forms_have_it(provider, secret: str) -> None:
    assert Issuer(provider, secret).client(secret).version(TABLE) == 1


def test_a_client_that_is_refused_is_named_without_its_secret(provider, caplog) -> None:
    issuer = Issuer(provider)

    with pytest.raises(
        ProviderRefusedError, match=r"OAuth client \(HTTP 401"
    ) as caught:
        issuer.client("wrong-secret").version(TABLE)

    assert "wrong-secret" not in f"{caught.value!r} {caught.value} {caplog.text}"
    assert "wrong-secret" not in repr(issuer.client("wrong-secret")._profile)  # noqa: SLF001


@pytest.mark.parametrize(
    "body",
    [
        "text",
        [],
        None,
        {},
        {"access_token": ""},
        {"access_token": "a\r\nX-Other: b"},
        {"access_token": ["a"]},
        {"access_token": "a" * 20_000},
        {"access_token": "a", "token_type": "mac"},
        {"access_token": "a", "token_type": 7},
    ],
    ids=lambda body: repr(body)[:40],
)
def test_what_is_no_token_is_an_error_of_the_provider(provider, body: object) -> None:
    issuer = Issuer(provider)
    provider.answers["/token"] = lambda asked: asked.say(200, json.dumps(body).encode())

    with pytest.raises(ProviderAnswerError, match="bearer token"):
        issuer.client().version(TABLE)


@pytest.mark.parametrize("body", [b"<html>", b"[" * 900_000, b"\xff"])
def test_what_is_no_json_is_an_error_of_the_provider(provider, body: bytes) -> None:
    issuer = Issuer(provider)
    provider.answers["/token"] = lambda asked: asked.say(200, body)

    with pytest.raises(ProviderAnswerError, match="bearer token"):
        issuer.client().version(TABLE)


def test_a_token_endpoint_that_fails_for_a_while_is_asked_again(provider) -> None:
    issuer = Issuer(provider)
    busy = [503]

    def give(asked: Handler) -> None:
        if busy:
            asked.say(busy.pop(), b"")
        else:
            issuer.give(asked)

    provider.answers["/token"] = give

    assert issuer.client().version(TABLE) == 1


def test_a_token_endpoint_draws_from_the_budget_of_the_look(provider) -> None:
    issuer = Issuer(provider, more="x" * 100_000)

    with pytest.raises(ProviderAnswerError, match="more than 1,000 bytes"):
        issuer.client(num_bytes=1000).version(TABLE)


def test_a_secret_is_not_redirected_to_another_server(provider: Provider) -> None:
    seen = []

    def keep(asked: Handler) -> None:
        seen.append((asked.headers["Authorization"], asked.body))
        asked.say(401, b"")

    issuer = Issuer(provider)
    with provider_running() as other:
        other.answers["/token"] = keep
        provider.answers["/token"] = lambda asked: asked.say(
            307, b"", Location=f"{other.endpoint}/token"
        )
        with pytest.raises(ProviderRefusedError):
            issuer.client().version(TABLE)

    assert seen
    assert all(proof is None and b"s3cret" not in body for proof, body in seen)


@pytest.mark.parametrize(
    "url", ["http://10.0.0.1/token", "http://169.254.169.254/", "https://[::1]/token"]
)
def test_a_token_endpoint_of_the_servers_network_is_not_asked(provider, url: str):
    profile = Profile(provider.endpoint, client=OAuthClient(url, "me", SECRET))

    with pytest.raises(ProviderHostError):
        SharingClient(profile, Transport(HERE)).version(TABLE)


def test_a_secret_is_in_no_error(provider: Provider) -> None:
    profile = Profile(
        provider.endpoint, client=OAuthClient("http://127.0.0.1:1/", "me", SECRET)
    )

    with pytest.raises(DeltaError) as caught:
        SharingClient(profile, Transport(HERE), bounds=LookBounds(seconds=1)).tables()

    assert SECRET not in f"{caught.value!r} {caught.value}"
