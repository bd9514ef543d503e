"""Requests that arrive in any pieces are the same requests."""

import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st

from deltaweb.serving.requests import Arrival, RefusedError, check_once

HEAD = b"POST /x HTTP/1.1\r\nHost: a\r\n"
BODIES = [
    pytest.param(HEAD + b"\r\n", HEAD + b"\r\n", id="none"),
    pytest.param(
        HEAD + b"content-length:  4 \r\n\r\nbody",
        HEAD + b"content-length:  4 \r\n\r\nbody",
        id="of a length",
    ),
    pytest.param(
        HEAD + b"Transfer-Encoding: Chunked\r\nA: b\r\n\r\n"
        b'2;x="y"\r\nbo\r\n002\r\ndy\r\n0\r\nA: b\r\nC: d\r\n\r\n',
        HEAD + b"A: b\r\nContent-Length: 4\r\n\r\nbody",
        id="in chunks",
    ),
    pytest.param(
        HEAD + b"Transfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
        HEAD + b"Content-Length: 0\r\n\r\n",
        id="in no chunks",
    ),
    pytest.param(
        HEAD + b"Expect: 100-Continue\r\nContent-Length: 4\r\n\r\nbody",
        HEAD + b"Content-Length: 4\r\n\r\nbody",
        id="that wait to be asked for",
    ),
]


class TestArrival:
    @pytest.mark.parametrize(("sent", "request_"), BODIES)
    @given(cuts=st.lists(st.integers(0, 200)), next_=st.binary(max_size=20))
    def test_is_there_with_its_last_byte(self, sent, request_, cuts, next_):
        arrival = Arrival()
        places = sorted({0, *(cut for cut in cuts if cut < len(sent)), len(sent)})
        pieces = [sent[a:b] for a, b in itertools.pairwise(places)]
        pieces[-1] += next_

        whether = [arrival.take_in(piece) for piece in pieces]

        assert whether == [False] * (len(pieces) - 1) + [True]
        assert arrival.data == request_ + next_

    @pytest.mark.parametrize("asks", [True, False])
    def test_asks_for_a_body_that_waits(self, *, asks: bool) -> None:
        arrival = Arrival()
        version = b"HTTP/1.1" if asks else b"HTTP/1.0"
        head = HEAD.replace(b"HTTP/1.1", version)

        assert not arrival.take_in(
            head + b"Expect: 100-continue\r\nContent-Length: 4\r\n\r\n"
        )

        assert arrival.is_asking == asks

    @pytest.mark.parametrize("chunk", [b"+1", b"0x1", b"1 1", b" 1", b"", b"1\n"])
    def test_refuses_chunks_of_no_length(self, chunk: bytes) -> None:
        arrival = Arrival()

        with pytest.raises(RefusedError):
            arrival.take_in(
                HEAD + b"Transfer-Encoding: chunked\r\n\r\n" + chunk + b"\r\na\r\n"
            )


class TestHeadersOfAProxy:
    NAMES = frozenset({b"remote-user"})

    @pytest.mark.parametrize(
        "lines",
        [
            b"Remote-User: a\r\nRemote-User: a",
            b"Remote-User: a\r\nA: b\r\nREMOTE-USER: c",
            b"Remote_User: a",
            b"Remote-User: a\r\nremote_user: b",
            b"Remote_User : a",
        ],
    )
    def test_are_refused_twice_or_in_a_second_spelling(self, lines: bytes) -> None:
        with pytest.raises(RefusedError) as refused:
            check_once(HEAD + lines + b"\r\n\r\n", self.NAMES)
        assert refused.value.status == 400

    @pytest.mark.parametrize("lines", [b"A: b", b"Remote-User: a\r\nRemote-Users: b"])
    def test_pass_once(self, lines: bytes) -> None:
        check_once(HEAD + lines + b"\r\n\r\n", self.NAMES)

    def test_are_no_concern_without_a_proxy(self) -> None:
        check_once(HEAD + b"Remote_User: a\r\n\r\n", frozenset())
