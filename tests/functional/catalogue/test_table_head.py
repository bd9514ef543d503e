"""The head of a table: its version, its timeline, what is wrong with it."""

import re
from datetime import UTC, datetime, timedelta

import pytest
from django.test import Client

from apps.accounts.models import User
from apps.jobs.models import Job
from apps.tables.index.refresh import refresh_table
from apps.tables.models import Table
from tests.functional.catalogue.pages import as_json, text
from tests.support import cases
from tests.support.pages.factories import (
    NOW,
    new_commit,
    new_table,
    new_unindexed_table,
)
from tests.support.pages.shown_words import words

pytestmark = pytest.mark.django_db


class TestTableHead:
    def test_shows_an_old_version_under_a_ribbon(self, viewer: Client) -> None:
        table = new_table("sales.orders", version=9, summary={})
        for version in range(10):
            new_commit(table, version)

        shown = text(viewer, "/t/sales/orders/", v="4")

        assert "You are looking at v4" in words(shown)
        assert "5 commits behind" in shown
        assert 'href="/t/sales/orders/schema?v=4"' in shown

    def test_the_timeline_is_a_form_that_works_without_script(self, viewer: Client):
        table = new_table("orders")
        for version in range(3):
            new_commit(table, version)

        shown = text(viewer, "/t/default/orders/")

        strip = shown.split("data-timeline")[1].split("</form>")[0]
        assert 'type="range"' in strip
        assert 'name="v"' in strip
        assert 'max="2"' in strip
        assert "<button" in strip.split("<noscript>")[1]
        assert "style=" not in strip

    @cases(
        "zone, begins, ends",
        {
            "of nobody": ("", "v0 · 20 Nov 2025, 20:00", "v1 · 21:00 UTC"),
            "of the reader": (
                "Asia/Kathmandu",
                "v0 · 21 Nov 2025, 01:45",
                "v1 · 02:45 +0545",
            ),
            "in which a day ends between": (
                "Africa/Nairobi",
                "v0 · 20 Nov 2025",
                "v1 · 21 Nov 2025",
            ),
        },
    )
    def test_the_timeline_is_in_the_zone_of_the_reader(
        self, viewer: Client, zone: str, begins: str, ends: str
    ) -> None:
        User.objects.update(time_zone=zone)
        hours = [20, 21]
        times = [datetime(2025, 11, 20, hour, tzinfo=UTC) for hour in hours]
        table = new_table("orders", committed_at=times[1], version=1, summary={})
        for version, at in enumerate(times):
            new_commit(table, version, committed_at=at)

        strip = text(viewer, "/t/default/orders/").split("data-timeline")[1]

        assert f">{begins}</text>" in strip
        assert f">{ends}</text>" in strip

    def test_the_timeline_of_a_day_has_round_times(self, viewer: Client) -> None:
        begin = datetime(2025, 11, 20, 2, 11, tzinfo=UTC)
        times = [begin + number * timedelta(minutes=41) for number in range(12)]
        table = new_table(version=11, summary={}, committed_at=times[-1])
        for version, at in enumerate(times):
            new_commit(table, version, committed_at=at)

        strip = text(viewer, "/t/default/orders/").split("data-timeline")[1]

        assert re.findall(r">(\d\d:\d\d)</text>", strip) == ["04:00", "06:00", "08:00"]

    def test_a_name_that_is_not_there_leads_to_the_one_alike(self, viewer: Client):
        new_table("sales.orders")
        new_table("sales.ordering", is_private=True)

        page = viewer.get("/t/sales/ordrs/")
        other = viewer.get("/t/sales/ordering/").content.decode()

        assert page.status_code == 404
        assert "Did you mean sales.orders?" in page.content.decode()
        assert 'href="/t/sales/orders/">To sales.orders</a>' in page.content.decode()
        assert "Did you mean sales.ordering" not in other

    def test_a_version_that_is_not_there_leads_to_the_newest(self, viewer: Client):
        new_table("orders")

        shown = viewer.get("/t/default/orders/?v=999").content.decode()
        data = viewer.get("/t/default/orders.json?v=999").json()

        way_out = '<a class="dw-btn dw-btn-primary" href="/t/default/orders/">'
        assert f"{way_out}To version 2, the newest</a>" in shown
        assert shown.count("dw-btn-primary") == 1
        assert data["error"] == "version-not-found"
        page = viewer.get("/nothing/here").content.decode()
        assert 'dw-btn-primary"\n             href="/">To the dashboard</a>' in page

    def test_the_timelines_tip_says_who_made_a_version(self, viewer: Client) -> None:
        new_commit(new_table("orders"), 1, operation="MERGE", user_name="etl")

        tip = as_json(viewer, "/t/default/orders/versions/1.json")

        assert (tip["operation"], tip["user"]) == ("MERGE", "etl")
        unknown = viewer.get(f"/t/default/orders/versions/{'9' * 40}.json")
        assert unknown.status_code == 404

    @cases(
        "fields, words",
        {
            "newer commits": ({"latest_version_seen": 5}, "the source is at"),
            "source unreachable": (
                {"error_code": "location-unreachable", "error": "The disk is gone."},
                "The disk is gone.",
            ),
            "a feature that we do not read": (
                {"state": Table.State.UNSUPPORTED, "error_code": "unsupported-feature"},
                "The rows of v2 cannot be read here.",
            ),
        },
    )
    def test_says_what_is_wrong_in_one_banner(self, viewer, fields, words):
        new_commit(new_table("orders", **fields), 2)

        shown = text(viewer, "/t/default/orders/")

        assert words in shown
        assert shown.count('id="table-state"') == 1

    def test_a_first_index_shows_its_progress_and_then_the_page(self, viewer: Client):
        table = new_unindexed_table("orders")
        refresh_table(table, now=NOW)

        assert "for the first time" in text(viewer, "/t/default/orders/")
        state = "/t/default/orders/state?since="
        assert "hx-get" in viewer.get(state).content.decode()
        Table.objects.update(indexed_at=NOW, version=0, state=Table.State.INDEXED)
        assert "page-moved-on" in viewer.get(state)["HX-Trigger"]

    def test_a_failed_first_index_says_where_and_offers_another_try(self, viewer):
        table = new_unindexed_table("orders", state=Table.State.FAILED)
        refresh_table(table, now=NOW)
        Job.objects.update(
            state=Job.State.FAILED, step="Replaying the log", error="Commit 5 is gone."
        )

        shown = text(viewer, "/t/default/orders/")

        assert "failed at: Replaying the log" in shown
        assert "Commit 5 is gone." in shown
        viewer.post("/t/default/orders/refresh")
        assert Job.objects.filter(state=Job.State.QUEUED).count() == 1


class TestErrorsOfATable:
    @cases(
        "path, status",
        {
            "a version that is not there": ("?v=999", 404),
            "a commit that is not there": ("history/999", 404),
            "a filter that cannot be read": ("files?min=x", 400),
            "a page that is not there": ("nothing", 404),
            "a page that is not theirs": ("settings", 403),
        },
    )
    def test_keep_its_head(self, viewer: Client, path: str, status: int) -> None:
        new_commit(new_table("sales.orders"), 2)

        answer = viewer.get(f"/t/sales/orders/{path}")
        shown = answer.content.decode()

        assert answer.status_code == status
        assert f"Error {status}" in shown
        assert '<nav class="dw-tabs" aria-label="Table">' in shown
        assert 'href="/t/sales/orders/schema"' in shown
        assert shown.count("<h1") == 1
