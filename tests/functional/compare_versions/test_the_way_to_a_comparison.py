"""The way to a comparison: which versions, and what is said where none can be."""

from pathlib import Path

import pytest
from django.test import Client, override_settings

from apps.jobs.models import Job
from apps.tables.models import Commit, Table
from apps.tables.work.diff_rows import DIFF_ROWS
from tests.functional.compare_versions.compared_orders import COMPARE
from tests.support import cases
from tests.support.pages.answers import json_of, text_of
from tests.support.pages.factories import new_unindexed_table

pytestmark = pytest.mark.django_db


@pytest.mark.usefixtures("table")
class TestTheWayToAComparison:
    def test_the_tab_compares_the_newest_version_with_the_one_before(self, viewer):
        response = viewer.get(COMPARE)

        assert response.headers["Location"] == f"{COMPARE}/3...4"
        assert f'href="{COMPARE}"' in text_of(viewer, "/t/default/orders/")

    @cases(
        "query, leads_to",
        {
            "the version that is looked at": ("?v=2", "1...2"),
            "the first version has none before it": ("?v=0", "0...0"),
            "two versions of the pickers": ("?from=4&to=1", "4...1"),
            "two ticked in the history": ("?pick=3&pick=1", "1...3"),
            "one ticked in the history": ("?pick=3", "2...3"),
            "the newest one by its name": ("?from=1&to=latest", "1...4"),
            "back from the newest one": ("?from=latest&to=2", "4...2"),
            "an address with a name": ("/1...latest", "1...4"),
            "an address back from a name": ("/latest...0", "4...0"),
            "two dots": ("/1..3", "1...3"),
            "no end is the newest": ("/2...", "2...4"),
            "one version is where it begins": ("/2", "2...4"),
            "a script's address with a name": (
                "/1...latest.json?view=schema",
                "1...4.json?view=schema",
            ),
        },
    )
    def test_an_address_leads_to_two_versions(self, viewer, query, leads_to):
        response = viewer.get(f"{COMPARE}{query}")

        assert response.headers["Location"] == f"{COMPARE}/{leads_to}"

    @cases(
        "query, limit_bytes, leads_to",
        {
            "few rows": ("pick=3&pick=1", 1 << 30, "1...3?view=rows&key=order_id"),
            "many rows": ("pick=3&pick=1", 0, "1...3?view=rows"),
            "a version and itself": ("pick=0", 1 << 30, "0...0?view=rows"),
        },
    )
    def test_ticked_versions_have_few_rows_compared_at_once(
        self, viewer, query, limit_bytes, leads_to
    ):
        with override_settings(SPARK_DIFF_BYTES=limit_bytes):
            response = viewer.get(f"{COMPARE}?{query}&by=suggestion")

        assert response.headers["Location"] == f"{COMPARE}/{leads_to}"
        started = Job.objects.filter(kind=DIFF_ROWS.name).count()
        assert started == ("key=" in leads_to)

    def test_a_gap_in_the_history_counts_as_many_rows(self, viewer: Client) -> None:
        Commit.objects.filter(version=2).delete()

        response = viewer.get(f"{COMPARE}?pick=1&pick=3&by=suggestion")

        assert response.headers["Location"] == f"{COMPARE}/1...3?view=rows"

    @pytest.mark.parametrize(
        "query",
        [
            "/1...99",
            "/1...newest",
            "/old",
            "/1...-2",
            "?from=first",
            "?pick=" + "9" * 5000,
        ],
    )
    def test_what_is_no_version_is_404_with_the_range(self, viewer: Client, query: str):
        response = viewer.get(f"{COMPARE}{query}")

        assert response.status_code == 404
        assert b"Choose a version from 0 to 4" in response.content

    def test_one_version_twice_says_so(self, viewer: Client) -> None:
        assert "Both sides are the same version" in text_of(viewer, f"{COMPARE}/2...2")

    @pytest.mark.parametrize("view", ["files", "rows"])
    def test_one_version_twice_says_so_to_scripts(self, viewer: Client, view: str):
        data = json_of(viewer, f"{COMPARE}/2...2.json?view={view}")
        lines = viewer.get(f"{COMPARE}/2...2.csv?view={view}")

        assert data["warning"] == "Both sides are the same version: nothing differs."
        assert lines.status_code == 409
        assert b"Both sides are the same version." in lines.content
        assert not Job.objects.exists()

    def test_the_way_back_is_named(self, viewer: Client) -> None:
        words = "This compares the later version with the earlier one"

        assert words in text_of(viewer, f"{COMPARE}/4...1?view=schema")
        assert words not in text_of(viewer, f"{COMPARE}/1...4?view=schema")

    def test_a_view_that_is_not_known_is_refused(self, viewer: Client) -> None:
        assert viewer.get(f"{COMPARE}/1...2?view=moods").status_code == 400

    def test_the_history_offers_to_tick_versions(self, viewer: Client) -> None:
        page = text_of(viewer, "/t/default/orders/history")

        assert 'name="pick"' in page
        assert f'action="{COMPARE}"' in page


@pytest.mark.usefixtures("table")
class TestVersionsThatCannotBeRead:
    @pytest.fixture(autouse=True)
    def unsupported(self, table: Table) -> None:
        table.protocol_versions.update(unsupported_reason="It uses teleport.")

    @pytest.mark.parametrize("view", ["files", "rows"])
    def test_files_and_rows_say_why(self, viewer: Client, view: str) -> None:
        page = text_of(viewer, f"{COMPARE}/0...4?view={view}")

        assert "It uses teleport." in page
        assert not Job.objects.exists()

    def test_what_the_log_says_is_shown_all_the_same(self, viewer: Client) -> None:
        assert "channel" in text_of(viewer, f"{COMPARE}/0...4?view=schema")

    def test_rows_cannot_be_started(self, viewer: Client) -> None:
        response = viewer.post(f"{COMPARE}/0...4/rows")

        assert response.status_code == 409
        assert not Job.objects.exists()


class TestATableThatIsNotIndexed:
    def test_the_page_says_so(self, viewer: Client, tmp_path: Path) -> None:
        new_unindexed_table("orders", location=str(tmp_path))

        assert "orders" in text_of(viewer, COMPARE)
        assert viewer.get(f"{COMPARE}/0...1").status_code == 404
