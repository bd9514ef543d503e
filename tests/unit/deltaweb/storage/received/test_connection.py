"""Connections through proxies, with the system's certificates, and slow names."""

import socket
import time
from pathlib import Path
from urllib.parse import urlsplit

import pytest

from deltaweb.delta.errors import LocationUnreachableError
from deltaweb.storage.objects.hosts import ANY_PUBLIC
from deltaweb.storage.received.budget import LookBounds, LookBudget
from deltaweb.storage.received.errors import (
    ProviderAnswerError,
    ProviderHostError,
    ProviderLimitError,
)
from deltaweb.storage.received.patience import HTTPRequest
from deltaweb.storage.received.transport import Transport
from tests.support.stores.forward_proxy import forward_proxy
from tests.support.stores.sharing_provider import HERE, Provider
from tests.support.stores.token_service import new_certificate, running_token_service

UNKNOWN = "provider.invalid"  # a name that is never known


@pytest.fixture(autouse=True)
def no_proxy(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "NO_PROXY"):
        monkeypatch.delenv(name, raising=False)
        monkeypatch.delenv(name.lower(), raising=False)


def get(url: str, *allowed: str) -> bytes:
    return Transport(allowed or HERE).ask(HTTPRequest("GET", url)).body


@pytest.fixture
def secure(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """A server that speaks https, by a certificate that the system trusts."""
    certificate = new_certificate(tmp_path)
    monkeypatch.setenv("SSL_CERT_FILE", str(certificate))
    with running_token_service(
        lambda _asked: (200, {}, b"good"), certificate=certificate
    ) as service:
        yield service


def test_the_certificates_of_the_system_are_trusted(secure, monkeypatch) -> None:
    assert get(f"{secure.url}/a") == b"good"

    monkeypatch.delenv("SSL_CERT_FILE")
    with pytest.raises(LocationUnreachableError):
        get(f"{secure.url}/a")


@pytest.mark.parametrize("variable", ["HTTPS_PROXY", "https_proxy", "ALL_PROXY"])
def test_https_goes_through_a_tunnel(secure, monkeypatch, variable: str) -> None:
    port = urlsplit(secure.url).port or 0
    with forward_proxy({"127.0.0.1": port}) as proxy:
        monkeypatch.setenv(variable, proxy.url.replace("//", "//ada:p%40ss@"))

        assert get(f"{secure.url}/a?b=c") == b"good"

    assert proxy.asked == [f"CONNECT 127.0.0.1:{port}"]
    assert proxy.proofs == ["Basic YWRhOnBAc3M="]
    assert secure.asked[0].headers["Proxy-Authorization"] is None


def test_http_is_forwarded(provider: Provider, monkeypatch) -> None:
    provider.answers["/a%20b"] = lambda asked: asked.say(200, b"good")
    with forward_proxy({"127.0.0.1": provider.port}) as proxy:
        monkeypatch.setenv("HTTP_PROXY", proxy.url)

        assert get(f"{provider.endpoint}/a b?c=d") == b"good"

    assert proxy.asked == [f"GET {provider.endpoint}/a%20b?c=d"]


@pytest.mark.parametrize("target", ["http", "https"])
def test_a_proxy_may_speak_tls_itself(
    secure, provider: Provider, tmp_path: Path, monkeypatch, target: str
) -> None:
    provider.answers["/a"] = lambda asked: asked.say(200, b"good")
    url = f"{provider.endpoint if target == 'http' else secure.url}/a"
    places = {"127.0.0.1": urlsplit(url).port or 0}
    with forward_proxy(places, certificate=tmp_path / "certificate.pem") as proxy:
        monkeypatch.setenv("HTTP_PROXY", proxy.url)
        monkeypatch.setenv("HTTPS_PROXY", proxy.url)

        assert get(url) == b"good"

    assert len(proxy.asked) == 1


@pytest.mark.parametrize("target", ["http", "https"])
def test_a_proxy_that_does_not_answer_is_named(monkeypatch, target: str) -> None:
    with socket.create_server(("127.0.0.1", 0)) as silent:
        place = f"http://ada:secret@127.0.0.1:{silent.getsockname()[1]}"
        monkeypatch.setenv("HTTP_PROXY", place)
        monkeypatch.setenv("HTTPS_PROXY", place)

        with pytest.raises(ProviderAnswerError, match="longer than") as caught:
            Transport(HERE, deadline_s=0.3).ask(
                HTTPRequest("GET", f"{target}://127.0.0.1/")
            )

    assert "secret" not in str(caught.value)


@pytest.mark.parametrize("named", ["127.0.0.1", "*", "other.example, 127.0.0.1:{port}"])
def test_a_host_of_no_proxy_is_asked_directly(
    provider, monkeypatch, named: str
) -> None:
    provider.answers["/a"] = lambda asked: asked.say(200, b"good")
    with forward_proxy({}) as proxy:
        monkeypatch.setenv("HTTP_PROXY", proxy.url)
        monkeypatch.setenv("NO_PROXY", named.format(port=provider.port))

        assert get(f"{provider.endpoint}/a") == b"good"

    assert proxy.asked == []


@pytest.mark.parametrize(
    "host", ["169.254.169.254", "10.0.0.1", "127.0.0.1", "localhost", "[::1]", UNKNOWN]
)
@pytest.mark.parametrize("scheme", ["http", "https"])
def test_a_proxy_opens_no_address_that_is_refused(monkeypatch, scheme, host) -> None:
    with forward_proxy({}) as proxy:
        monkeypatch.setenv("HTTP_PROXY", proxy.url)
        monkeypatch.setenv("HTTPS_PROXY", proxy.url)

        with pytest.raises(ProviderHostError):
            get(f"{scheme}://{host}/a", ANY_PUBLIC)

    assert proxy.asked == []


def test_a_proxy_may_know_the_name_of_a_host_that_is_allowed(provider, monkeypatch):
    provider.answers["/a"] = lambda asked: asked.say(200, b"good")
    with forward_proxy({UNKNOWN: provider.port}) as proxy:
        monkeypatch.setenv("HTTP_PROXY", proxy.url)

        assert get(f"http://{UNKNOWN}/api/a", UNKNOWN) == b"good"


@pytest.mark.parametrize("text", ["socks5://127.0.0.1:1", "http://", "ftp://a"])
def test_a_proxy_of_another_kind_is_named(monkeypatch, text: str) -> None:
    monkeypatch.setenv("HTTP_PROXY", text)

    with pytest.raises(ProviderHostError, match="proxy"):
        get("http://127.0.0.1/a")


@pytest.mark.parametrize("host", ["a\0b", "a" * 70, "a..b", "%61", "ü" * 300])
def test_what_can_be_no_name_is_refused_at_once(host: str) -> None:
    with pytest.raises((ProviderHostError, ProviderAnswerError)):
        Transport(deadline_s=5).ask(HTTPRequest("GET", f"http://{host}/"))


def test_a_name_that_is_not_found_in_time_ends_the_look(monkeypatch) -> None:
    def slow(*_: object, **__: object) -> list[object]:
        time.sleep(3)
        return []

    monkeypatch.setattr(socket, "getaddrinfo", slow)
    budget = LookBudget.of("acme", LookBounds(seconds=0.3))
    started_s = time.monotonic()

    with pytest.raises(ProviderLimitError, match="longer than"):
        Transport().ask(HTTPRequest("GET", "http://acme.example/"), budget)

    assert time.monotonic() - started_s < 2
