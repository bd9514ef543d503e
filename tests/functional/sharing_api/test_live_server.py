"""What only a real server shows: bytes on the wire, streams, and how they end."""

import contextlib
import http.client
import json
import os
import socket
import sys
from collections.abc import Iterator
from urllib.parse import urlsplit

import pytest

from apps.sharing.api.places import MAX_OF_A_TOKEN
from tests.functional.sharing_api.live_server import (
    BREAKABLE_APPLICATION,
    FULL_DISK_APPLICATION,
    NUM_FILES,
    QUERY,
    VERSION,
    Live,
    query,
    web,
    write_table,
)
from tests.support import cases
from tests.support.processes.installation import migrate, run_each, wait_for


@pytest.fixture(scope="module")
def live(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Live]:
    """A server for the tests of this module."""
    home = tmp_path_factory.mktemp("live")
    root = home / "lake" / "orders"
    write_table(root)
    profile = home / "acme.share"
    migrate(home)
    run_each(
        home,
        ("table", "add", "crm.orders", str(root)),
        ("share", "create", "sales"),
        ("share", "add-table", "sales", "crm.orders", "--table", "crm.orders"),
        (
            *("recipient", "create", "acme", "--share", "sales"),
            *("--expires", "7d", "--profile", str(profile)),
        ),
    )
    secret = json.loads(profile.read_text())["bearerToken"]
    (home / "breakable_application.py").write_text(BREAKABLE_APPLICATION)
    with web(home, "breakable_application:application") as port:
        yield Live(home, port, secret)


@pytest.fixture(autouse=True)
def _closed(live: Live) -> Iterator[None]:
    yield
    while live.opened:
        live.opened.pop().close()


class TestStream:
    def test_comes_in_chunks_and_whole(self, live: Live) -> None:
        answer = query(live)

        assert answer.status == 200
        assert answer.headers["Transfer-Encoding"] == "chunked"
        assert answer.headers["Content-Type"] == "application/x-ndjson; charset=utf-8"
        assert len(answer.read().splitlines()) == NUM_FILES + 2
        assert live.is_newest(
            action="table.query",
            status=200,
            error_code="",
            num_files=NUM_FILES,
            detail={},
        )

    def test_of_a_client_that_leaves_is_recorded(self, live: Live) -> None:
        connection = live.connect()
        connection.request("POST", QUERY, b"{}", live.authorization)
        answer = connection.getresponse()
        assert answer.read(100).startswith(b'{"protocol"')
        linger = (1).to_bytes(4, sys.byteorder) + (0).to_bytes(4, sys.byteorder)
        connection.sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, linger)
        answer.close()
        connection.close()

        left = {"ended": "client left"}
        assert wait_for(
            lambda: left.items() <= dict(live.calls()[0]["detail"]).items(),  # type: ignore[call-overload]  # a JSON object
            timeout_s=120,
        )

    def test_that_many_do_not_read_leaves_the_server_to_others(self, live: Live):
        stalled = [live.stall_query() for _ in range(MAX_OF_A_TOKEN)]
        assert {wire.recv(12) for wire in stalled} == {b"HTTP/1.1 200"}

        assert live.ask(VERSION, live.authorization).status == 200
        refused = query(live)
        assert refused.status == 429
        assert int(refused.headers["Retry-After"]) >= 1
        assert json.loads(refused.read())["errorCode"] == "RESOURCE_EXHAUSTED"

        late = stalled.pop()
        received = b""
        while not received.endswith(b"\r\n0\r\n\r\n"):
            part = late.recv(1 << 20)
            assert part
            received += part
        assert received.count(b'{"file":') == NUM_FILES
        assert wait_for(lambda: query(live).status == 200)
        for wire in [late, *stalled]:
            wire.close()

    def test_that_breaks_does_not_end_as_if_it_were_whole(self, live: Live) -> None:
        broken = live.home / "broken"
        broken.touch()
        try:
            answer = query(live)
            assert answer.status == 200
            with pytest.raises((http.client.IncompleteRead, ConnectionError)):
                answer.read()
        finally:
            broken.unlink()

        assert live.is_recorded(error_code="STREAM_BROKEN")

    def test_to_an_old_client_ends_with_the_connection(self, live: Live) -> None:
        head = f"POST {QUERY} HTTP/1.0\r\nAuthorization: Bearer {live.secret}\r\n"
        request = f"{head}Content-Length: 2\r\nHost: 127.0.0.1\r\n\r\n{{}}"

        received = live.send(request.encode())

        assert received.startswith((b"HTTP/1.0 200", b"HTTP/1.1 200"))
        assert received.endswith(b"}}\n")


class TestBody:
    def test_may_come_in_chunks(self, live: Live) -> None:
        connection = live.connect()
        parts = [b'{"predicateHints": ["day =', b" '2026-01-01'\"]}"]
        connection.request(
            "POST", QUERY, iter(parts), live.authorization, encode_chunked=True
        )

        answer = connection.getresponse()

        assert answer.status == 200
        assert len(answer.read().splitlines()) == 3

    def test_in_chunks_is_bounded_too(self, live: Live) -> None:
        connection = live.connect()
        parts = (b"x" * (1 << 20) for _ in range(5))
        with contextlib.suppress(ConnectionError):
            connection.request(
                "POST", QUERY, parts, live.authorization, encode_chunked=True
            )

        assert connection.getresponse().status == 413

    def test_that_breaks_off_is_the_callers(self, live: Live) -> None:
        head = f"POST {QUERY} HTTP/1.1\r\nAuthorization: Bearer {live.secret}\r\n"
        request = f"{head}Content-Length: 100\r\nHost: 127.0.0.1\r\n\r\n{{}}"

        received = live.send(request.encode())

        assert not received.startswith(b"HTTP/1.1 5")

    @pytest.mark.parametrize("chunks", [b"ZZ\r\n{}\r\n", b"2\r\n{}xx", b"-1\r\n"])
    def test_of_chunks_that_are_none_is_the_callers(self, live: Live, chunks: bytes):
        head = f"POST {QUERY} HTTP/1.1\r\nAuthorization: Bearer {live.secret}\r\n"
        head += "Transfer-Encoding: chunked\r\nHost: 127.0.0.1\r\n\r\n"

        received = live.send(head.encode() + chunks)

        assert received.startswith(b"HTTP/1.1 400")
        assert b'"MALFORMED_REQUEST"' in received


class TestFullDisk:
    def test_leaves_the_server_answering(self, live: Live) -> None:
        (live.home / "full_application.py").write_text(FULL_DISK_APPLICATION)
        (live.home / "rates-failures").unlink(missing_ok=True)
        with web(live.home, "full_application:application") as port:
            for number in range(40):
                connection = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
                header = {"Authorization": f"Bearer stranger-{number}"}
                connection.request("GET", VERSION, headers=header)
                answer = connection.getresponse()
                assert answer.status == 401
                assert json.loads(answer.read())["errorCode"] == "UNAUTHENTICATED"
                connection.close()
            # Read to its end: a server that stops waits for answers on their way.
            assert b"part-" in query(live, port=port).read()


class TestFile:
    @pytest.fixture
    def url(self, live: Live) -> str:
        """The path and query of the one file that is there."""
        hints = json.dumps({"predicateHints": ["day = '2026-01-01'"]}).encode()
        line = query(live, hints).read().splitlines()[2]
        parts = urlsplit(json.loads(line)["file"]["url"])
        return f"{parts.path}?{parts.query}"

    def test_is_sent_whole_and_in_parts(self, live: Live, url: str) -> None:
        (place,) = (live.home / "lake" / "orders").glob("day=*/*.parquet")
        content = place.read_bytes()
        connection = live.connect()
        connection.request("GET", url)
        assert connection.getresponse().read() == content

        for first, last in ((0, len(content) - 1), (7, 70_000), (len(content) - 8, "")):
            connection.request("GET", url, headers={"Range": f"bytes={first}-{last}"})
            answer = connection.getresponse()
            assert answer.status == 206
            end = len(content) if last == "" else int(last) + 1
            assert answer.read() == content[first:end]

    def test_head_leaves_the_connection_usable(self, live: Live, url: str) -> None:
        connection = live.connect()
        for _ in range(3):
            connection.request("HEAD", url)
            answer = connection.getresponse()
            assert answer.read() == b""
            assert int(answer.headers["Content-Length"]) > 100_000

    def test_survives_readers_that_drop_the_connection(self, live: Live, url: str):
        for _ in range(20):
            connection = live.connect()
            connection.request("GET", url)
            assert connection.getresponse().status == 200
            connection.close()

        connection = live.connect()
        connection.request("GET", url)
        assert connection.getresponse().status == 200

    def test_that_many_do_not_go_on_with_leaves_the_server_to_others(self, live: Live):
        target = live.large_file(9)
        stalled = [live.stall_file(target) for _ in range(MAX_OF_A_TOKEN)]

        assert {wire.recv(12) for wire in stalled} == {b"HTTP/1.1 200"}
        refused = live.ask(target)
        assert refused.status == 429
        assert int(refused.headers["Retry-After"]) >= 1
        assert json.loads(refused.read())["errorCode"] == "RESOURCE_EXHAUSTED"
        assert live.ask(VERSION, live.authorization).status == 200

        stalled.pop().close()
        assert wait_for(lambda: live.ask(target).status == 200)
        for wire in stalled:
            wire.close()

    def test_that_becomes_shorter_takes_nothing_from_the_next_answer(self, live: Live):
        place = live.home / "lake" / "orders" / "part-7"
        wire = live.stall_file(live.large_file(7))
        after = f"GET {VERSION} HTTP/1.1\r\nHost: 127.0.0.1\r\n"
        after += f"Authorization: Bearer {live.secret}\r\nConnection: close\r\n\r\n"
        with wire:
            received = wire.recv(1 << 10)
            assert received.startswith(b"HTTP/1.1 200")
            os.truncate(place, 1000)
            wire.sendall(after.encode())
            with contextlib.suppress(ConnectionResetError):
                while part := wire.recv(1 << 20):
                    received = received[-(1 << 10) :] + part

        assert b"Delta-Table-Version" not in received


class TestWire:
    @pytest.mark.parametrize(
        "target",
        [
            "/delta-sharing/shares/%",
            "/delta-sharing/shares/%zz",
            "/delta-sharing/shares/%00",
            "/delta-sharing/shares/%ff%fe",
            "/delta-sharing/shares/%2e%2e/schemas",
            "/delta-sharing/../../etc/passwd",
            "/delta-sharing/shares?maxResults=%ff&pageToken=%00",
            "/delta-sharing/shares?&&&===&=",
            "/delta-sharing//shares",
            "//delta-sharing/shares",
            "/delta-sharing/shares#fragment",
            "/delta-sharing/shares/a;b=c",
        ],
    )
    def test_odd_targets_are_no_fault_of_ours(self, live: Live, target: str) -> None:
        head = f"GET {target} HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\n"
        received = live.send(
            f"{head}Authorization: Bearer {live.secret}\r\n\r\n".encode()
        )

        status = int(received.split()[1])
        assert 200 <= status < 500
        if target.startswith("/delta-sharing"):
            assert b"text/html" not in received

    def test_version_is_polled_on_one_connection(self, live: Live) -> None:
        connection = live.connect()
        for _ in range(20):
            connection.request("GET", VERSION, headers=live.authorization)
            answer = connection.getresponse()
            assert answer.read() == b""
            assert answer.headers["Delta-Table-Version"] == "1"

    def test_calls_of_many_threads_are_all_recorded(self, live: Live) -> None:
        from concurrent.futures import ThreadPoolExecutor

        def ask(_: int) -> int:
            connection = live.connect()
            connection.request("GET", VERSION, headers=live.authorization)
            return connection.getresponse().status

        before = len(live.calls())
        with ThreadPoolExecutor(8) as pool:
            assert set(pool.map(ask, range(64))) == {200}

        assert len(live.calls()) == before + 64


class TestLog:
    """At the level that tells most."""

    SECRET = "dw-secret-9f8e7d6c"

    @cases(
        "head, said",
        {
            "header": (
                f"GET {VERSION} HTTP/1.1\r\nAuthorization: Bearer {SECRET}",
                f"Unauthorized: {VERSION}",
            ),
            "query and cookie": (
                f"GET {VERSION}?token={SECRET} HTTP/1.1\r\nCookie: sessionid={SECRET}",
                f"Unauthorized: {VERSION}",
            ),
            "a page": (f"GET /nothing/?sig={SECRET} HTTP/1.1", "/nothing/"),
            "a link": (f"GET /accounts/sign-in/{SECRET} HTTP/1.1", "/sign-in/..."),
            "a version": (f"GET {VERSION}?sig={SECRET} HTTP/9", "HTTPVersion"),
            "a method": (f"G(T {VERSION}?sig={SECRET} HTTP/1.1", "RequestMethod"),
            "a name of a header": (
                f"GET {VERSION} HTTP/1.1\r\nAuthorization : Bearer {SECRET}",
                "InvalidHeaderName",
            ),
            "a value of a header": (
                f"GET {VERSION} HTTP/1.1\r\nAuthorization: Bearer {SECRET}\x00",
                "InvalidHeader\n",
            ),
            "a length": (
                f"GET {VERSION}?pageToken={SECRET}{'x' * 9000} HTTP/1.1",
                "LimitRequestLine",
            ),
        },
    )
    def test_holds_a_request_and_no_secret_of_it(self, live, head, said):
        request = f"{head}\r\nHost: 127.0.0.1\r\nConnection: close\r\n\r\n"
        live.send(request.encode())

        log = live.log()
        assert said in log
        assert self.SECRET not in log

    @pytest.mark.parametrize("tail", ["", "0", "&se=1"])
    def test_holds_no_signature_of_a_url(self, live: Live, tail: str) -> None:
        target = live.large_file(0)
        signature = target.partition("sig=")[2].partition("&")[0]

        status = live.ask(f"{target}{tail}", {"Range": "bytes=0-9"}).status

        assert status == 403 if tail else 206
        assert len(signature) == 64
        assert signature not in live.log()
        assert live.secret not in live.log()
