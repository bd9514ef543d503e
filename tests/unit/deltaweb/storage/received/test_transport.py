"""Requests to servers of others: which hosts are asked, and within which bounds."""

import contextlib
import time

import pytest

from deltaweb.delta.errors import LocationUnreachableError
from deltaweb.storage.received.errors import ProviderAnswerError, ProviderHostError
from deltaweb.storage.received.patience import HTTPRequest
from deltaweb.storage.received.transport import Transport
from tests.support.processes.ports import free_port
from tests.support.stores.sharing_provider import HERE, Handler, Provider


@pytest.mark.parametrize(
    "url",
    [
        "http://127.0.0.1:{port}/",
        "http://localhost:{port}/",
        "http://[::1]:{port}/",
        "http://[::ffff:127.0.0.1]:{port}/",
        "http://[::127.0.0.1]:{port}/",
        "http://[::ffff:0:127.0.0.1]:{port}/",
        "http://[64:ff9b::127.0.0.1]:{port}/",
        "http://[64:ff9b::10.0.0.1]/",
        "http://[64:ff9b:1::8.8.8.8]/",
        "http://[2002:7f00:1::]/",
        "http://[fec0::1]/",
        "http://[ff02::1]/",
        "http://224.0.0.1/",
        "http://0.0.0.0:{port}/",
        "http://169.254.169.254/latest/meta-data",
        "http://10.0.0.1/",
        "file:///etc/passwd",
        "ftp://127.0.0.1/",
        "http:///x",
        "no URL",
    ],
)
def test_hosts_of_the_servers_network_are_not_asked(provider: Provider, url: str):
    with pytest.raises(ProviderHostError):
        Transport().ask(HTTPRequest("GET", url.format(port=provider.port)))

    assert provider.asked == []


def test_a_redirect_is_an_answer_and_not_followed(provider: Provider) -> None:
    provider.answers["/a"] = lambda asked: asked.say(302, b"", Location="/b")

    assert (
        Transport(HERE).ask(HTTPRequest("GET", f"{provider.endpoint}/a")).status == 302
    )
    assert provider.asked == ["GET /a"]


def test_an_answer_that_is_too_large_is_given_up(provider: Provider) -> None:
    provider.answers["/a"] = lambda asked: asked.say(200, b"x" * 1001)

    with pytest.raises(ProviderAnswerError, match="more than 1,000 bytes"):
        Transport(HERE).ask(
            HTTPRequest("GET", f"{provider.endpoint}/a", max_bytes=1000)
        )


@pytest.mark.parametrize("part", [b"x", b"X-More: of it\r\n"])
def test_an_answer_that_drips_is_given_up(provider: Provider, part: bytes) -> None:
    def drip(asked: Handler) -> None:
        asked.wfile.write(b"HTTP/1.0 200 OK\r\n" + b"\r\n" * (part == b"x"))
        with contextlib.suppress(OSError):  # of a client that is away
            for _ in range(100):
                asked.wfile.write(part)
                time.sleep(0.05)

    provider.answers["/a"] = drip
    transport = Transport(HERE, timeout_s=1, deadline_s=0.3)
    started_s = time.monotonic()

    with pytest.raises(ProviderAnswerError, match="longer than"):
        transport.ask(HTTPRequest("GET", f"{provider.endpoint}/a"))

    assert time.monotonic() - started_s < 2


def test_an_answer_that_breaks_off_is_none(provider: Provider) -> None:
    def break_off(asked: Handler) -> None:
        asked.wfile.write(b"HTTP/1.0 200 OK\r\nContent-Length: 9\r\n\r\nhalf")

    provider.answers["/a"] = break_off

    with pytest.raises(LocationUnreachableError):
        Transport(HERE).ask(HTTPRequest("GET", f"{provider.endpoint}/a"))


@pytest.mark.parametrize("stated", ["ten", "-1", "1e3", "", "+5", "٥"])
def test_an_answer_with_a_length_that_is_no_number_is_refused(provider, stated) -> None:
    def cut_off(asked: Handler) -> None:
        head = f"HTTP/1.1 200 OK\r\nContent-Length: {stated}\r\n\r\n"
        asked.wfile.write(head.encode() + b"half of")
        asked.close_connection = True

    provider.answers["/a"] = cut_off

    with pytest.raises(ProviderAnswerError, match="length that the answer states"):
        Transport(HERE).ask(HTTPRequest("GET", f"{provider.endpoint}/a"))


@pytest.mark.parametrize("stated", ["5", "5, 5", "05"])
def test_an_answer_of_the_length_that_it_states_is_read(provider, stated: str) -> None:
    def whole(asked: Handler) -> None:
        head = f"HTTP/1.1 200 OK\r\nContent-Length: {stated}\r\n\r\n"
        asked.wfile.write(head.encode() + b"whole")
        asked.close_connection = True

    provider.answers["/a"] = whole
    answer = Transport(HERE).ask(HTTPRequest("GET", f"{provider.endpoint}/a"))

    assert answer.body == b"whole"


def test_a_server_that_is_away_is_said_to_be_without_its_url() -> None:
    url = f"http://127.0.0.1:{free_port()}/?signature=secret"

    with pytest.raises(LocationUnreachableError) as caught:
        Transport(HERE, timeout_s=1).ask(HTTPRequest("GET", url))

    assert "secret" not in str(caught.value)


def test_headers_that_do_not_read_bring_no_url_into_the_log(provider, caplog) -> None:
    def spoil(asked: Handler) -> None:
        asked.wfile.write(b"HTTP/1.0 200 OK\r\nA: b\r\nno header\r\n\r\nok")

    provider.answers["/a"] = spoil

    assert (
        Transport(HERE)
        .ask(HTTPRequest("GET", f"{provider.endpoint}/a?signature=secret"))
        .body
    )
    assert "secret" not in caplog.text
