"""What the log says of two versions, and their files side by side."""

import pytest
from django.test import Client

from apps.jobs.models import Job
from tests.functional.compare_versions.compared_orders import COMPARE, HTMX, work
from tests.support.pages.answers import csv_of, json_of, text_of

pytestmark = pytest.mark.django_db


@pytest.mark.usefixtures("table")
class TestWhatTheLogSays:
    def test_the_schema_is_compared_without_a_job(self, viewer: Client) -> None:
        page = text_of(viewer, f"{COMPARE}/0...4?view=schema")

        assert "channel" in page
        assert "Where" in page
        assert not Job.objects.exists()

    def test_both_versions_stand_on_the_timeline(self, viewer: Client) -> None:
        page = text_of(viewer, f"{COMPARE}/0...4?view=schema")

        assert "dw-vt-flag-b" in page
        assert "dw-vt-span" in page

    def test_the_json_form_has_the_keys_of_the_command(self, viewer: Client) -> None:
        data = json_of(viewer, f"{COMPARE}/0...4.json?view=schema")

        assert (data["from"], data["to"]) == (0, 4)
        assert [field["name"] for field in data["schema"]["added"]] == ["channel"]
        assert data["properties"]["added"] == [
            {"name": "delta.appendOnly", "value": "false"}
        ]
        assert data["protocol"] == {"added": [], "removed": [], "changed": []}

    @pytest.mark.parametrize(
        ("view", "text"),
        [("properties", "delta.appendOnly"), ("protocol", "The protocol is the same")],
    )
    def test_other_views_show_what_changed(self, viewer: Client, view: str, text: str):
        assert text in text_of(viewer, f"{COMPARE}/0...4?view={view}")

    def test_the_csv_form_lists_the_changes(self, viewer: Client) -> None:
        lines = csv_of(viewer, f"{COMPARE}/4...0.csv?view=schema")

        assert lines == [
            ["change", "name", "from", "to"],
            ["removed", "channel", "string", ""],
        ]


@pytest.mark.usefixtures("table")
class TestFiles:
    def test_a_job_finds_them_and_the_page_waits(self, viewer: Client) -> None:
        waiting = text_of(viewer, f"{COMPARE}/1...4")
        work()
        page = text_of(viewer, f"{COMPARE}/1...4", **HTMX)

        assert "Comparing the files of both versions" in waiting
        assert "1 removed" in page
        assert "2 rewritten into 1" in page
        assert "<html" not in page

    def test_the_json_form_counts_and_lists_them(self, viewer: Client) -> None:
        json_of(viewer, f"{COMPARE}/1...4.json", status=202)
        work()
        data = json_of(viewer, f"{COMPARE}/1...4.json")

        counts = ("added", "removed", "rewritten", "rewritten_into", "shared")
        assert [data["files"][name] for name in counts] == [0, 1, 2, 1, 0]
        assert [file["kind"] for file in data["changed_files"]] == [
            "removed",
            "rewritten",
            "rewritten",
            "rewritten_into",
        ]

    def test_a_kind_can_be_chosen(self, viewer: Client) -> None:
        viewer.get(f"{COMPARE}/1...4")
        work()

        lines = csv_of(viewer, f"{COMPARE}/1...4.csv?kind=removed")

        assert [line[0] for line in lines] == ["kind", "removed"]

    def test_a_second_look_asks_for_no_second_job(self, viewer: Client) -> None:
        viewer.get(f"{COMPARE}/1...4")
        work()
        viewer.get(f"{COMPARE}/1...4")

        assert Job.objects.count() == 1
