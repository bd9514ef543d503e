"""The manual under /help/: in the layout of the app, and also without an account."""

import json
import re

import pytest
from django.core.signals import request_finished
from django.test import Client, RequestFactory

from apps.pages.frame import tour
from apps.pages.views import manual_page
from tests.support.pages.factories import new_table
from tests.support.processes.installation import ROOT

pytestmark = pytest.mark.django_db  # who is asked for, if anybody is signed in


def test_strangers_read_the_manual(client: Client) -> None:
    answer = client.get("/help/")
    shown = answer.content.decode()

    assert answer.status_code == 200
    assert 'class="dw-prose"' in shown
    assert 'class="dw-rail"' not in shown
    policy = answer["Content-Security-Policy"]
    assert "script-src 'self'" in policy.split("; ")
    assert "unsafe" not in policy
    assert "<script>" not in shown
    assert " style=" not in shown


def test_it_stands_in_the_frame_of_the_app(viewer: Client) -> None:
    shown = viewer.get("/help/how-to/rotate-a-token/").content.decode()

    assert 'class="dw-rail"' in shown
    assert "<h1" in shown.partition('<article class="dw-prose">')[2]
    assert re.search(
        r'href="/help/how-to/rotate-a-token/" aria-current="page">Rotate a token', shown
    )
    assert 'href="/help/how-to/script-by-rest/"' in shown  # the next page


def test_pictures_and_the_index_of_its_pages_are_served(client: Client) -> None:
    assert client.get("/help/pictures/overview-light.webp").status_code == 200
    answer = client.get("/help/tour/index.html")
    assert (answer.status_code, answer["Location"]) == (302, "/help/tour/")


def test_its_links_lead_to_pages_of_this_server(client, settings, tmp_path) -> None:
    part = {"title": "A", "content": '<a href="app:tables/">b</a>', "toc": []}
    (tmp_path / "contents.json").write_text("[]")
    (tmp_path / "part.json").write_text(json.dumps(part))
    settings.MANUAL = tmp_path

    shown = client.get("/help/").content.decode()

    assert 'href="/tables/"' in shown


class TestTour:
    def test_each_question_is_in_the_manual_with_its_page(self) -> None:
        text = (ROOT / "docs" / "manual" / "tour.md").read_text()

        asked = re.findall(r"^## (.*)", text, re.MULTILINE)
        shown = re.findall(r"\[Show me\]\(app:(.*)\?tour=(.*)\)", text)

        assert asked == [one.question for one in tour]
        assert shown == [(one.page, one.key) for one in tour]

    def test_a_page_that_it_opens_leads_back_and_on(self, viewer: Client) -> None:
        first, second, *_ = tour
        new_table("samples.orders")

        shown = viewer.get(f"/{first.page}?tour={first.key}").content.decode()

        assert "1 of 5" in shown
        assert f'href="/help/tour/#{first.key}"' in shown
        assert f'href="/{second.page}?tour={second.key}"' in shown
        assert "cannot read the parameter" not in shown

    def test_a_server_without_samples_leads_back_too(self, viewer: Client) -> None:
        last = list(tour)[-1]

        answer = viewer.get(f"/{last.page}?tour={last.key}")

        assert answer.status_code == 404
        assert f'href="/help/tour/#{last.key}"' in answer.content.decode()

    def test_no_other_page_speaks_of_it(self, viewer: Client) -> None:
        for path in ("/tables/", "/tables/?tour=<b>", "/tables/?tour=x"):
            assert 'class="dw-tour"' not in viewer.get(path).content.decode()


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
        picture = "pictures/overview-light.webp"
        manual_page(RequestFactory().get(f"/help/{picture}"), picture)
        manual_page(
            RequestFactory().get("/help/reference/commands"), "reference/commands"
        )
    finally:
        request_finished.disconnect(note)

    assert closed == []
