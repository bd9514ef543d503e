"""The manual under /help/: without an account, and with no scripts but its own."""

import pytest
from django.core.signals import request_finished
from django.test import Client, RequestFactory

from apps.pages.views import manual_page

pytestmark = pytest.mark.django_db  # who is asked for, if anybody is signed in


def test_strangers_read_the_manual(client: Client) -> None:
    answer = client.get("/help/")

    assert answer.status_code == 200
    assert b"deltaweb" in answer.content
    policy = answer["Content-Security-Policy"]
    assert "'sha256-" in policy
    assert "unsafe" not in policy


def test_a_page_without_its_slash_is_found(client: Client) -> None:
    answer = client.get("/help/reference/commands")

    assert (answer.status_code, answer["Location"]) == (
        302,
        "/help/reference/commands/",
    )


@pytest.mark.parametrize(
    "path", ["gone", "gone/", "../settings.py", "%2e%2e/mkdocs.yml", "//etc/passwd"]
)
def test_nothing_else_is_found(client: Client, path: str) -> None:
    answer = client.get(f"/help/{path}")

    assert answer.status_code in {301, 302, 400, 404}
    assert b"site_name" not in answer.content


def test_an_installation_without_it_says_so(client, settings, tmp_path):
    settings.MANUAL = tmp_path

    answer = client.get("/help/")

    assert answer.status_code == 404
    assert "The manual is not part of this installation." in answer.content.decode()


def test_the_database_stays_open_for_the_rest_of_the_request():
    closed = []

    def note(**_: object) -> None:
        closed.append(True)

    request_finished.connect(note)
    try:
        manual_page(RequestFactory().get("/help/"))
        manual_page(
            RequestFactory().get("/help/reference/commands"), "reference/commands"
        )
    finally:
        request_finished.disconnect(note)

    assert closed == []
