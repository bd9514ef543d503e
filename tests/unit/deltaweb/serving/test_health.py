"""A container says that it is well while its server answers."""

from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest

from deltaweb.serving.health import answers
from tests.support.answering import answering
from tests.support.processes.ports import free_port


class Answers(BaseHTTPRequestHandler):
    status = 200
    asked: list[str] = []

    def do_GET(self) -> None:
        self.asked.append(self.path)
        self.send_response(self.status)
        self.end_headers()

    def log_message(self, *_: object) -> None:
        """Say nothing."""


@pytest.fixture
def port() -> Iterator[int]:
    with answering(ThreadingHTTPServer(("127.0.0.1", 0), Answers)) as port:
        yield port


@pytest.mark.parametrize(
    ("status", "is_well"), [(200, True), (302, False), (503, False), (500, False)]
)
def test_only_a_probe_that_says_so_is_well(port, monkeypatch, status, *, is_well):
    monkeypatch.setattr(Answers, "status", status)

    assert answers(port) is is_well


def test_it_asks_whether_the_process_lives_or_the_probe_that_is_named(port: int):
    answers(port)
    answers(port, "/readyz")

    assert Answers.asked[-2:] == ["/livez", "/readyz"]


def test_nobody_there_is_no_answer() -> None:
    assert not answers(free_port())
