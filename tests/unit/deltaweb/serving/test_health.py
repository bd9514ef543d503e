"""A container says that it is well while its server answers."""

from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest

from deltaweb.serving.health import answers
from tests.support.answering import answering
from tests.support.processes.ports import free_port

PUBLIC = "https://tables.example.org/lake"


class Answers(BaseHTTPRequestHandler):
    status = 200
    asked: list[tuple[str | None, str | None]] = []

    def do_GET(self) -> None:
        self.asked.append((self.headers["Host"], self.headers["X-Forwarded-Proto"]))
        self.send_response(self.status)
        self.end_headers()

    def log_message(self, *_: object) -> None:
        """Say nothing."""


@pytest.fixture
def port() -> Iterator[int]:
    with answering(ThreadingHTTPServer(("127.0.0.1", 0), Answers)) as port:
        yield port


@pytest.mark.parametrize(
    ("status", "is_well"), [(200, True), (302, True), (503, False), (500, False)]
)
def test_any_answer_but_a_fault_is_one(port, monkeypatch, status, *, is_well):
    monkeypatch.setattr(Answers, "status", status)

    assert answers(port, "") is is_well


def test_it_is_asked_by_its_public_name(port: int) -> None:
    answers(port, PUBLIC)

    assert Answers.asked[-1] == ("tables.example.org", "https")


def test_nobody_there_is_no_answer() -> None:
    assert not answers(free_port(), "")
