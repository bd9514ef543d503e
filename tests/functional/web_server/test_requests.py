"""Requests as they arrive: in pieces, one after the other, large, and too large."""

import contextlib
import http.client
import json
import socket
import time
from pathlib import Path

import pytest

from tests.functional.web_server.patient_server import (
    ANSWERED_S,
    HEAD,
    NUM_THREADS,
    PATIENCE_S,
    POST,
    connect,
    is_served,
    received,
    serving,
)
from tests.support.processes.installation import wait_for


class TestRequests:
    def test_may_come_in_pieces(self, port: int, connections: contextlib.ExitStack):
        wire = connect(port, connections)
        request = POST + b"Connection: close\r\nContent-Length: 4\r\n\r\nbody"
        for position in range(len(request)):
            wire.sendall(request[position : position + 1])

        assert received(wire).endswith(b"\r\n\r\nbody")

    def test_may_follow_each_other_at_once(self, port, connections):
        wire = connect(port, connections)
        wire.sendall(POST + b"Content-Length: 3\r\n\r\none" + POST + b"Content-")
        time.sleep(0.3)
        wire.sendall(b"Length: 3\r\nConnection: close\r\n\r\ntwo")

        answers = received(wire)

        assert answers.count(b"200 OK") == 2
        assert answers.endswith(b"two")

    @pytest.mark.parametrize("length", [1, 1 << 20, 4 << 20])
    def test_may_be_large(self, port: int, length: int) -> None:
        connection = http.client.HTTPConnection("127.0.0.1", port, timeout=ANSWERED_S)
        with contextlib.closing(connection):
            connection.request("POST", "/", b"a" * length)

            assert connection.getresponse().read() == b"a" * length

    def test_may_wait_to_be_asked_for_their_body(self, port, connections):
        wire = connect(port, connections)
        wire.sendall(
            POST + b"Connection: close\r\nExpect: 100-continue\r\n"
            b"Content-Length: 4\r\n\r\n"
        )
        assert wire.recv(100).startswith(b"HTTP/1.1 100 Continue")
        wire.sendall(b"body")

        assert received(wire).endswith(b"body")

    def test_that_are_cut_short_are_not_waited_for(self, port, connections):
        wire = connect(port, connections)
        wire.sendall(HEAD)
        wire.shutdown(socket.SHUT_WR)

        assert received(wire) == b""

    def test_may_come_in_chunks(self, port: int, connections: contextlib.ExitStack):
        wire = connect(port, connections)
        chunked = b"Transfer-Encoding: chunked\r\n\r\n2\r\non\r\n1;a=b\r\ne\r\n"
        wire.sendall(POST + chunked + b"0\r\nA-Trailer: x\r\n\r\n" + POST)
        wire.sendall(b"Connection: close\r\nContent-Length: 3\r\n\r\ntwo")

        answers = received(wire)

        assert answers.count(b"200 OK") == 2
        assert b"\r\n\r\noneHTTP/1.1 200" in answers
        assert answers.endswith(b"two")


# Each with what it is answered.
REFUSED = [
    pytest.param(b"Content-Length: 4194306\r\n\r\n", 413, id="a large body"),
    pytest.param(b"Content-Length: %d\r\n\r\n" % 10**40, 413, id="a vast body"),
    pytest.param(
        b"Expect: 100-continue\r\nContent-Length: 4194306\r\n\r\n",
        *(413,),
        id="a large body, if asked for it",
    ),
    pytest.param(
        b"Transfer-Encoding: chunked\r\n\r\n400002\r\n", 413, id="a large chunk"
    ),
    pytest.param(
        b"Transfer-Encoding: chunked\r\n\r\n" + b"1\r\na\r\n" * 20_000,
        *(413,),
        id="more chunks than text",
    ),
    pytest.param(b"Transfer-Encoding: chunked\r\n\r\nx\r\n", 400, id="no chunk"),
    pytest.param(
        b"Transfer-Encoding: chunked\r\n\r\n1\r\naaa", 400, id="a longer chunk"
    ),
    pytest.param(
        b"Transfer-Encoding: chunked\r\nContent-Length: 1\r\n\r\n",
        *(400,),
        id="two ways to end",
    ),
    pytest.param(
        b"Content-Length: 1\r\nContent-Length: 2\r\n\r\n", 400, id="two lengths"
    ),
    pytest.param(b"Content-Length: -1\r\n\r\n", 400, id="no length"),
    pytest.param(b"Transfer-Encoding: gzip\r\n\r\n", 501, id="another coding"),
    pytest.param(b"Expect: a-miracle\r\n\r\n", 417, id="another expectation"),
    pytest.param(b"a" * 70_000, 431, id="a head without an end"),
    pytest.param(b"A: %b\r\n\r\n" % (b"a" * 9000), 431, id="a long header"),
    pytest.param(b"A: 1\r\n" * 200 + b"\r\n", 431, id="many headers"),
    pytest.param(b"no header\r\n\r\n", 400, id="no header"),
]
LINES = [
    pytest.param(b"POST /delta-sharing/x?sig=secret HTTP/1.1", id="the protocol"),
    pytest.param(b"POST //delta-sharing/?sig=secret HTTP/1.1", id="with two slashes"),
    pytest.param(
        b"POST http://a/delta-sharing/x?sig=secret HTTP/1.1", id="with a host"
    ),
    pytest.param(b"POST /sign-in/secret/ HTTP/1.1", id="a page"),
]


class TestRefusals:
    @pytest.mark.parametrize(("rest", "status"), REFUSED)
    def test_take_no_thread(self, port, connections, rest, status):
        for _ in range(4 * NUM_THREADS):
            connect(port, connections).sendall(POST + rest)
        wire = connect(port, connections)
        wire.sendall(POST + rest)

        assert received(wire).startswith(b"HTTP/1.1 %d " % status)
        assert is_served(port)

    @pytest.mark.parametrize("line", LINES)
    @pytest.mark.parametrize(
        ("rest", "status"),
        [
            *REFUSED[:1],
            *REFUSED[-2:],
            pytest.param(b"Expect: a-miracle\r\n\r\n", 417, id="a miracle"),
            pytest.param(b"Transfer-Encoding: gzip\r\n\r\n", 501, id="a coding"),
            pytest.param(b"Host: b\r\n\r\n", 400, id="two hosts"),
            pytest.param(b"A B: 1\r\n\r\n", 400, id="no name"),
        ],
    )
    def test_have_the_form_of_the_protocol_below_its_path(
        self,
        port: int,
        connections: contextlib.ExitStack,
        line: bytes,
        rest: bytes,
        status: int,
    ) -> None:
        wire = connect(port, connections)
        wire.sendall(line + b"\r\nHost: a\r\n" + rest)

        head, _, body = received(wire).partition(b"\r\n\r\n")

        assert head.startswith(b"HTTP/1.1 %d " % status)
        assert b"Connection: close" in head
        assert b"secret" not in body
        if b"delta-sharing" in line:
            assert b"Content-Type: application/json" in head
            error = json.loads(body)
            code = "INTERNAL_ERROR" if status >= 500 else "MALFORMED_REQUEST"
            assert error["errorCode"] == code
            assert error["message"]
        else:
            assert b"Content-Type: text/plain" in head

    def test_and_faults_leave_no_signature_in_answer_or_log(self, tmp_path: Path):
        with serving(tmp_path, PATIENCE_S, faults=1) as port:
            answers = {line: answer_to(line, port) for line in MALFORMED}
            fault = answer_to(b"GET /fault?sig=secret HTTP/1.1", port)

        for line, status in MALFORMED.items():
            head, _, body = answers[line].partition(b"\r\n\r\n")
            assert head.startswith(b"HTTP/1.1 %d " % status), line
            if line.startswith(b"HEAD"):
                assert body == b""
            else:
                assert json.loads(body)["errorCode"] == "MALFORMED_REQUEST"
            assert b"secret" not in head + body
        assert fault.startswith(b"HTTP/1.1 500 ")
        assert b"a fault" not in fault
        log = (tmp_path / "web.log").read_text()
        assert "ValueError: a fault" in log
        assert "secret" not in log
        assert len(log.partition("Traceback")[0].splitlines()) <= len(MALFORMED) + 1


MALFORMED = {
    b"POST /delta-sharing/\xc3\xa9?sig=secret HTTP/1.1": 400,
    b"POST /delta-sharing/x?sig=secret HTTP/9": 400,
    b"post /delta-sharing/x?sig=secret HTTP/1.1": 400,
    b"POST /delta-sharing/x?sig=secret HTTP/1.1 x": 400,
    b"POST /delta-sharing/x?sig=secret&a=%b HTTP/1.1" % (b"a" * 9000): 414,
    b"POST /delta-sharing/x?sig=secret&a=%b HTTP/1.1" % (b"a" * 70_000): 414,
    b"HEAD /delta-sharing/\xc3\xa9?sig=secret HTTP/1.1": 400,
}


def answer_to(line: bytes, port: int) -> bytes:
    with contextlib.ExitStack() as connections:
        wire = connect(port, connections)
        wire.sendall(line + b"\r\nHost: a\r\n\r\n")
        return received(wire)


class TestClientsThatLeave:
    def test_are_not_worked_for_any_longer(self, port, connections, tmp_path):
        never = tmp_path / "never"
        wire = connect(port, connections)
        wire.sendall(b"GET /held?%b HTTP/1.1\r\nHost: a\r\n\r\n" % bytes(never))
        assert wait_for(never.with_suffix(".begun").exists)

        wire.close()

        assert wait_for(never.with_suffix(".over").exists)

    def test_are_not_worked_for_at_all_where_they_had_to_wait(
        self, port: int, connections: contextlib.ExitStack, tmp_path: Path
    ) -> None:
        gate, late = tmp_path / "gate", tmp_path / "late"
        for number in range(NUM_THREADS):
            busy = tmp_path / f"busy-{number}"
            busy.symlink_to(gate)
            wire = connect(port, connections)
            wire.sendall(b"GET /held?%b HTTP/1.1\r\nHost: a\r\n\r\n" % bytes(busy))
            assert wait_for(busy.with_suffix(".begun").exists)
        wire = connect(port, connections)
        wire.sendall(b"GET /held?%b HTTP/1.1\r\nHost: a\r\n\r\n" % bytes(late))
        wire.close()

        gate.touch()

        assert is_served(port)
        assert not late.with_suffix(".begun").exists()
