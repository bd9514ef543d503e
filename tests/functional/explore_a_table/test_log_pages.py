"""What the log tells of a table: its overview, history, commits and schema."""

import json
import re
from pathlib import Path

import pytest
from django.test import Client
from pytest_django.fixtures import DjangoAssertNumQueries

from apps.tables.models import Table
from deltaweb.delta.log.paths import commit_name
from tests.functional.explore_a_table.pages import PAGES, TABLE
from tests.support import cases
from tests.support.index.indexed_tables import new_sample_table
from tests.support.logs.delta_logs import commit_bytes, metadata, protocol
from tests.support.pages.answers import csv_of, json_of, text_of
from tests.support.pages.factories import (
    new_commit,
    new_metadata,
    new_protocol,
    new_table,
)
from tests.support.pages.shown_words import words

pytestmark = [pytest.mark.django_db, pytest.mark.database]


@pytest.mark.usefixtures("orders")
class TestOverview:
    def test_shows_what_the_table_holds(self, viewer: Client) -> None:
        page = text_of(viewer, f"{TABLE}orders/")

        assert "5,568" in page
        assert "84 files in 84 partitions" in page
        assert "Commits per day" in page
        assert "order_id" in page

    def test_an_older_version_stays_on_every_tab(self, viewer: Client) -> None:
        page = text_of(viewer, f"{TABLE}orders/?v=3")

        assert "You are looking at v3" in words(page)
        assert all(f"{TABLE}orders/{tab}?v=3" in page for tab in PAGES)

    def test_the_json_form_tells_the_version(self, viewer: Client) -> None:
        data = json_of(viewer, f"{TABLE}orders.json?v=3")

        assert (data["version"], data["latest_version"]) == (3, 21)
        assert data["protocol"]["min_reader_version"] == 1
        assert data["partition_columns"] == ["order_date", "country"]

    def test_charts_have_their_numbers_without_script(self, viewer: Client) -> None:
        page = text_of(viewer, f"{TABLE}orders/")

        assert page.count("Show as table") == 3
        assert '<script id="commits-per-day" type="application/json">' in page
        assert " style=" not in page

    def test_asks_the_database_a_bounded_number_of_questions(
        self, viewer: Client, django_assert_max_num_queries: DjangoAssertNumQueries
    ) -> None:
        viewer.get(f"{TABLE}orders/")  # which is noted
        for path, limit in [("", 17), ("schema", 13), ("history", 16), ("files", 13)]:
            with django_assert_max_num_queries(limit):
                viewer.get(f"{TABLE}orders/{path}")


@pytest.mark.usefixtures("orders")
class TestHistory:
    def test_says_each_commit_in_plain_words(self, viewer: Client) -> None:
        page = text_of(viewer, f"{TABLE}orders/history")

        assert "Appended 317 rows" in words(page)
        assert "22 commits" in page

    def test_a_commit_without_files_says_what_it_changed_instead(self, viewer: Client):
        table = new_table("renamed", version=1)
        none = {"num_added_files": 0, "added_bytes": 0}
        new_commit(table, 1, operation="RENAME COLUMN", changes_schema=True, **none)
        url = f"{TABLE}renamed/history"

        row = text_of(viewer, url).partition('<div class="dw-delta">')[2]
        said = re.sub(r"<[^>]*>", " ", row.partition("</article>")[0]).split()
        page = text_of(viewer, f"{url}/1")

        assert said == ["schema"]
        assert "no files were added or removed" in page
        assert "0 B" not in page

    def test_says_whose_times_it_shows(self, viewer: Client) -> None:
        table = new_table("own_times", version=3)
        new_commit(table, 3)
        plain = "Times are those of the commit files."
        path = f"{TABLE}own_times/history"
        assert plain in text_of(viewer, path)

        new_protocol(table, version=2, writer_features=["inCommitTimestamp"])
        on = {
            "delta.enableInCommitTimestamps": "true",
            "delta.inCommitTimestampEnablementVersion": "2",
        }
        new_metadata(table, version=2, configuration=on)

        assert "from version 2 on, and those of the commit files" in text_of(
            viewer, path
        )
        data = json_of(viewer, f"{path}.json")
        assert data["times_of"] == "commits"
        before = json_of(viewer, f"{path}.json?v=1")
        assert before["times_note"] == plain

    def test_none_matching_is_not_none_at_all(self, viewer: Client) -> None:
        page = text_of(viewer, f"{TABLE}orders/history?q=nowhere")

        assert "No commit matches these filters" in page
        assert "Clear the filters" in page

    def test_the_json_form_counts_and_pages(self, viewer: Client) -> None:
        table = new_table("long", version=59)
        for version in range(60):
            new_commit(table, version)

        first = json_of(viewer, f"{TABLE}long/history.json")
        second = json_of(viewer, str(first["next"]))

        assert first["count"] == 60
        commits = second["commits"]
        assert isinstance(commits, list)
        assert [commit["version"] for commit in commits] == [*range(9, -1, -1)]
        assert second["next"] is None

    def test_the_csv_form_has_every_row_of_the_filter(self, viewer: Client) -> None:
        lines = csv_of(viewer, f"{TABLE}orders/history.csv?op=WRITE")

        assert lines[0][0] == "version"
        assert len(lines) == 22


@pytest.mark.usefixtures("orders")
class TestCommit:
    def test_shows_files_metrics_and_raw_actions(self, viewer: Client) -> None:
        page = text_of(viewer, f"{TABLE}orders/history/21")

        assert "Files added" in page
        assert "Raw actions" in page
        assert "Output rows" in page

    @cases(
        "version, is_offered",
        {"the newest one": (21, True), "the first one has none before it": (0, False)},
    )
    def test_offers_to_compare_it_with_the_one_before(
        self, viewer: Client, version: int, *, is_offered: bool
    ) -> None:
        page = text_of(viewer, f"{TABLE}orders/history/{version}")

        assert ("/orders/compare/20...21" in page) is is_offered
        assert ("Compare with v" in page) is is_offered

    def test_the_actions_can_be_downloaded(self, viewer: Client) -> None:
        response = viewer.get(f"{TABLE}orders/history/21/actions")

        lines = response.content.decode().splitlines()
        assert all(json.loads(line) for line in lines)
        assert "00000000000000000021.json" in response["Content-Disposition"]

    @pytest.mark.parametrize("depth", [100, 300, 450, 900, 100_000])
    def test_a_line_that_nests_too_deeply_is_no_fault_of_ours(
        self, viewer: Client, tmp_path: Path, depth: int
    ) -> None:
        folder = tmp_path / "deep"
        (folder / "_delta_log").mkdir(parents=True)
        deep = b'{"commitInfo":{"a":' + b"[" * depth + b"]" * depth + b"}}\n"
        commit = folder / "_delta_log" / commit_name(0)
        commit.write_bytes(commit_bytes(protocol(), metadata()) + deep)
        new_commit(new_table("deep", version=0, location=str(folder)), 0)

        page = viewer.get(f"{TABLE}deep/history/0")
        actions = viewer.get(f"{TABLE}deep/history/0/actions")

        assert page.status_code == 200
        assert actions.status_code == (200 if depth <= 100 else 422)
        if depth > 100:
            assert "nested too deeply" in page.content.decode()

    def test_storage_that_went_away_leaves_the_index(self, viewer: Client) -> None:
        Table.objects.update(location="/nowhere/at/all")

        page = text_of(viewer, f"{TABLE}orders/history/21")

        assert "cannot be read now" in page
        assert "Output rows" in page
        assert viewer.get(f"{TABLE}orders/history/21/actions").status_code == 503


@pytest.mark.usefixtures("orders")
class TestSchema:
    def test_shows_the_tree_and_the_code(self, viewer: Client, lake: Path) -> None:
        new_sample_table("devices", lake / "device_readings")

        page = text_of(viewer, f"{TABLE}devices/schema")

        assert "CREATE TABLE" in page
        assert "StructType" in page
        assert "pa.schema" in page
        assert 'aria-level="2"' in page

    def test_a_filter_works_without_script(self, viewer: Client) -> None:
        page = text_of(viewer, f"{TABLE}orders/schema?q=amount")

        assert 'data-column="amount"' in page
        assert 'data-column="status"' not in page

    def test_a_schema_that_cannot_be_read_is_shown_as_it_is(self, viewer: Client):
        table = new_table("odd")
        udt = {"type": "udt"}
        kind = {"name": "shape", "type": udt, "nullable": True, "metadata": {}}
        new_metadata(
            table, schema_string=json.dumps({"type": "struct", "fields": [kind]})
        )

        page = text_of(viewer, f"{TABLE}odd/schema")

        assert "This schema cannot be read" in page
        assert "udt" in page
