"""Requests that are sent again: after faults that pass, and along redirects."""

import time
from email.utils import formatdate

import pytest
from urllib3 import HTTPResponse

from deltaweb.delta.errors import LocationUnreachableError
from deltaweb.storage.received.errors import ProviderAnswerError, ProviderHostError
from deltaweb.storage.received.patience import (
    PATIENT,
    HTTPRequest,
    after_answer,
)
from deltaweb.storage.received.transport import Transport
from tests.support.processes.ports import free_port
from tests.support.stores.sharing_provider import (
    HERE,
    Handler,
    Provider,
    Respond,
    provider_running,
)

QUICK = PATIENT.new(backoff_factor=0.01, backoff_jitter=0.01)


def first(*answers: Respond, then: Respond) -> Respond:
    """Answer some requests otherwise than all that follow."""
    rest = iter(answers)
    return lambda asked: next(rest, then)(asked)  # noqa: PLW0108 (each time another)


def good(asked: Handler) -> None:
    asked.say(200, b"good")


def failing(status: int, **headers: str) -> Respond:
    return lambda asked: asked.say(status, b"later", **headers)


def break_off(asked: Handler) -> None:
    """Close the connection in the middle of a body."""
    asked.wfile.write(b"HTTP/1.0 200 OK\r\nContent-Length: 9\r\n\r\nhalf")


def reset(asked: Handler) -> None:
    """Close the connection without an answer."""
    asked.close_connection = True


def get(provider: Provider, path: str = "/a", **fields: object) -> bytes:
    url = f"{provider.endpoint}{path}"
    fields = {"retries": QUICK, **fields}
    return Transport(HERE).ask(HTTPRequest("GET", url, **fields)).body  # type: ignore[arg-type]


# === Faults that pass ===


@pytest.mark.parametrize(
    "fault", [*map(failing, (429, 500, 502, 503, 504)), break_off, reset]
)
def test_a_fault_that_passes_is_survived(provider: Provider, fault: Respond) -> None:
    provider.answers["/a"] = first(fault, fault, then=good)

    assert get(provider) == b"good"
    assert len(provider.asked) == 3


@pytest.mark.parametrize("fault", [*map(failing, (429, 503)), break_off, reset])
def test_a_request_that_is_sent_once_is_not_sent_again(provider, fault) -> None:
    provider.answers["/a"] = first(fault, then=good)

    try:
        body = get(provider, retries=None)
    except LocationUnreachableError:
        body = b""

    assert body != b"good"
    assert len(provider.asked) == 1


@pytest.mark.parametrize("status", [400, 401, 403, 404, 409, 501])
def test_an_answer_that_stays_is_not_asked_for_again(provider, status: int) -> None:
    provider.answers["/a"] = first(failing(status), then=good)

    assert get(provider) == b"later"
    assert len(provider.asked) == 1


def test_a_fault_that_stays_is_the_answer(provider: Provider) -> None:
    provider.answers["/a"] = failing(503)

    assert get(provider) == b"later"
    assert len(provider.asked) == 5


def test_a_body_is_sent_again(provider: Provider) -> None:
    bodies = []

    def keep(asked: Handler) -> None:
        bodies.append((asked.command, asked.body))
        asked.say(503 if len(bodies) == 1 else 200, b"")

    provider.answers["/a"] = keep
    url = f"{provider.endpoint}/a"
    Transport(HERE).ask(HTTPRequest("POST", url, body=b"query", retries=PATIENT))

    assert bodies == [("POST", b"query")] * 2


@pytest.mark.parametrize("form", ["seconds", "date"])
def test_a_server_says_how_long_to_wait(provider: Provider, form: str) -> None:
    after = "1" if form == "seconds" else formatdate(time.time() + 2, usegmt=True)
    provider.answers["/a"] = first(failing(429, Retry_After=after), then=good)
    started_s = time.monotonic()

    assert get(provider) == b"good"

    assert 0.9 <= time.monotonic() - started_s < 4


def test_a_server_that_is_away_for_a_while_is_named() -> None:
    url = f"http://127.0.0.1:{free_port()}/?signature=secret"

    with pytest.raises(LocationUnreachableError) as caught:
        Transport(HERE).ask(HTTPRequest("GET", url, retries=QUICK))

    assert "secret" not in str(caught.value)


def test_all_attempts_share_one_deadline(provider: Provider) -> None:
    provider.answers["/a"] = reset
    request = HTTPRequest("GET", f"{provider.endpoint}/a", retries=PATIENT)
    started_s = time.monotonic()

    with pytest.raises((LocationUnreachableError, ProviderAnswerError)):
        Transport(HERE, deadline_s=0.4).ask(request)

    assert time.monotonic() - started_s < 2


# === Redirects ===


@pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
def test_a_redirect_is_followed(provider: Provider, status: int) -> None:
    provider.answers["/a"] = failing(status, Location="../api/b c?d=1")
    provider.answers["/b%20c"] = good

    assert get(provider) == b"good"
    assert provider.asked == ["GET /a", "GET /b%20c?d=1"]


@pytest.mark.parametrize(
    ("status", "sent"),
    [
        *((status, ("POST", b"q", "text/x")) for status in (301, 302, 307, 308)),
        (303, ("GET", b"", None)),
    ],
)
def test_a_query_stays_one_except_after_see_other(provider, status: int, sent) -> None:
    seen = []

    def keep(asked: Handler) -> None:
        seen.append((asked.command, asked.body, asked.headers["Content-Type"]))
        asked.say(200, b"")

    provider.answers |= {"/a": failing(status, Location="/api/b"), "/b": keep}
    headers = {"Content-Type": "text/x"}
    url = f"{provider.endpoint}/a"
    Transport(HERE).ask(HTTPRequest("POST", url, headers, b"q", retries=PATIENT))

    assert seen == [sent]


def test_a_token_goes_to_the_server_that_it_is_for_alone(provider: Provider) -> None:
    tokens = []

    def keep(asked: Handler) -> None:
        tokens.append(asked.headers["Authorization"])
        asked.say(200, b"good")

    headers = {"Authorization": "Bearer secret"}
    with provider_running() as other:
        other.answers |= {
            "/b": keep,
            "/c": failing(307, Location=f"{provider.endpoint}/d"),
        }
        provider.answers |= {"/b": keep, "/d": keep}
        for to in ("/api/b", f"{other.endpoint}/b", f"{other.endpoint}/c"):
            provider.answers["/a"] = failing(307, Location=to)
            assert get(provider, headers=headers) == b"good"

    assert tokens == ["Bearer secret", None, None]


@pytest.mark.parametrize(
    ("url", "to", "is_kept"),
    [
        ("http://acme.example/a", "https://acme.example/a", True),
        ("https://acme.example/a", "https://acme.example:443/b", True),
        ("https://acme.example/a", "https://acme.example:444/b", False),
        ("https://acme.example/a", "https://b.acme.example/a", False),
        ("https://acme.example/a", "//other.example/a", False),
        ("http://acme.example:81/a", "https://acme.example/a", False),
    ],
)
def test_which_server_is_the_same(url: str, to: str, *, is_kept: bool) -> None:
    request = HTTPRequest("GET", url, {"Authorization": "a"}, retries=PATIENT)

    again = after_answer(request, redirect(to))

    assert again is not None
    assert ("Authorization" in again.request.headers) == is_kept


def test_no_redirect_leaves_tls() -> None:
    request = HTTPRequest("GET", "https://acme.example/a", retries=PATIENT)

    with pytest.raises(ProviderAnswerError, match="from https to http"):
        after_answer(request, redirect("http://acme.example/a"))


def test_a_host_of_the_servers_network_is_not_redirected_to(provider) -> None:
    provider.answers["/a"] = failing(307, Location="http://127.0.0.2:1/")

    with pytest.raises(ProviderHostError, match=r"127\.0\.0\.2"):
        get(provider)


def redirect(to: str) -> HTTPResponse:
    return HTTPResponse(status=307, headers={"Location": to})


# === Addresses that are no URLs yet ===


@pytest.mark.parametrize(
    ("raw", "sent"),
    [
        ("/a b/c=d%2F/1.parquet?sig=x y", "/a%20b/c=d%2F/1.parquet?sig=x%20y"),
        (
            '/100%/é"<>^`{|}\\?s=%2f+%zz',
            "/100%25/%C3%A9%22%3C%3E%5E%60%7B%7C%7D%5C?s=%2f+%25zz",
        ),
        ("/k=[a];b,c!$&'()*:@~-._?a=/?:@", "/k=[a];b,c!$&'()*:@~-._?a=/?:@"),
    ],
)
def test_characters_that_no_url_has_are_escaped(provider, raw: str, sent: str) -> None:
    provider.answers[sent.partition("?")[0]] = good

    assert get(provider, raw) == b"good"
    assert provider.asked == [f"GET {sent}"]
