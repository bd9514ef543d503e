"""What somebody sees of a table whose log was cleaned: all of its history, marked."""

import csv
import io
import re
from pathlib import Path

import pytest
from django.test import Client
from pytest_django.fixtures import Settings

from apps.tables.models import Table
from deltaweb.delta.log.paths import commit_name
from tests.support.index.indexed_tables import index_table, new_indexed_table
from tests.support.logs.dated_log import DatedLog
from tests.support.logs.delta_logs import metadata
from tests.support.pages.answers import json_of, text_of

pytestmark = pytest.mark.django_db
PAGE = "/t/default/orders/"
MARK = "from deltaweb's archive"
TABS = ["", "data", "schema", "history", "compare", "files", "partitions"]


@pytest.fixture
def log(settings: Settings, tmp_path: Path) -> DatedLog:
    """Ten versions; the third gets a comment."""
    settings.HOME = tmp_path / "home"
    log = DatedLog(tmp_path / "lake").write(0, 9)
    log.commit(3, metadata(description="Orders of all shops."))
    return log


@pytest.fixture
def cleaned(log: DatedLog) -> Table:
    """The table, indexed before the log lost its first six versions and after."""
    table = new_indexed_table("orders", Path(log.location))
    log.clean_up(6)
    index_table(table)
    return table


@pytest.mark.usefixtures("cleaned")
class TestHistory:
    def test_marks_what_only_the_archive_holds(self, viewer: Client) -> None:
        page = text_of(viewer, f"{PAGE}history")

        rows = re.findall(r"<article.*?</article>", page, re.DOTALL)
        marked = [re.search(r">v(\d+)</a>", row)[1] for row in rows if MARK in row]  # type: ignore[index]  # every row has a version
        assert len(rows) == 10
        assert marked == ["5", "4", "3", "2", "1", "0"]
        assert page.count("was cleaned up and no longer has this commit") == 6

    def test_offers_to_compare_what_there_is_to_compare(self, viewer: Client) -> None:
        page = text_of(viewer, f"{PAGE}history")

        assert 'aria-label="Compare version 7"' in page
        assert 'aria-label="Compare version 2, without its files and rows"' in page

    def test_has_the_mark_in_its_machine_forms(self, viewer: Client) -> None:
        commits = json_of(viewer, f"{PAGE}history.json")["commits"]
        response = viewer.get(f"{PAGE}history.csv")

        assert isinstance(commits, list)
        archived = {row["version"]: row["archived"] for row in commits}
        assert archived == {version: version < 6 for version in range(10)}
        lines = b"".join(response).decode()
        rows = list(csv.DictReader(io.StringIO(lines)))
        assert [row["archived"] for row in rows] == ["false"] * 4 + ["true"] * 6

    def test_stands_on_the_timeline_as_gone(self, viewer: Client) -> None:
        page = text_of(viewer, f"{PAGE}history")

        assert "4 readable" in page
        assert "6 gone" in page


@pytest.mark.usefixtures("cleaned")
class TestACommit:
    def test_shows_what_is_left_and_says_what_is_not(self, viewer: Client) -> None:
        page = text_of(viewer, f"{PAGE}history/2")

        assert MARK in page
        assert "its raw actions and the paths of its files are gone" in page
        assert "by <bdi>etl</bdi>" in page
        assert "batch" in page
        assert "Download the actions" not in page

    def test_shows_how_it_changed_the_table(self, viewer: Client) -> None:
        page = text_of(viewer, f"{PAGE}history/3")

        assert "Orders of all shops." in page

    def test_has_the_same_in_json(self, viewer: Client) -> None:
        data = json_of(viewer, f"{PAGE}history/2.json")

        assert (data["archived"], data["files_added"]) == (True, 1)
        assert data["parameters"] == {"mode": "Append", "batch": "2"}
        assert "cleaned" in str(data["actions_unavailable"])

    def test_has_no_actions_to_download(self, viewer: Client) -> None:
        response = viewer.get(f"{PAGE}history/2/actions")

        assert response.status_code == 410
        assert "was cleaned" in response.content.decode()

    def test_that_the_log_holds_is_read_from_it(self, viewer: Client) -> None:
        page = text_of(viewer, f"{PAGE}history/7")

        assert MARK not in page
        assert "etl-7.parquet" in page


class TestAVersion:
    @pytest.mark.usefixtures("cleaned")
    def test_that_is_gone_has_every_page(self, viewer: Client) -> None:
        for tab in TABS:
            response = viewer.get(f"{PAGE}{tab}?v=4", follow=True)

            assert response.status_code == (410 if tab == "data" else 200), tab
            assert "v4" in response.content.decode(), tab

    @pytest.mark.usefixtures("cleaned")
    def test_has_the_metadata_of_its_time(self, viewer: Client) -> None:
        before = json_of(viewer, "/t/default/orders.json?v=2")
        after = json_of(viewer, "/t/default/orders.json?v=4")

        assert before["metadata"]["description"] is None
        assert after["metadata"]["description"] == "Orders of all shops."

    @pytest.mark.usefixtures("cleaned")
    def test_that_is_gone_compares_by_what_is_known(self, viewer: Client) -> None:
        for view in ("files", "schema", "properties", "rows"):
            assert "v2" in text_of(viewer, f"{PAGE}compare/2...7?view={view}"), view

    def test_that_nobody_indexed_is_told_of(self, log: DatedLog, viewer: Client):
        table = new_indexed_table("orders", Path(log.location))
        log.write(10, 14).clean_up(14)
        index_table(table)

        statuses = {
            tab: viewer.get(f"{PAGE}{tab}?v=12", follow=True).status_code
            for tab in (*TABS, "history/12", "history/12/actions")
        }

        expected = dict.fromkeys(TABS, 200) | {"data": 410}
        assert statuses == expected | {"history/12": 404, "history/12/actions": 404}

    def test_whose_commit_was_cleaned_since_the_index_is_told_of(self, log, viewer):
        new_indexed_table("orders", Path(log.location))
        log.clean_up(9)
        (log.log / commit_name(9)).unlink()

        page = text_of(viewer, f"{PAGE}history/3")

        assert "cannot be read now" in page
        assert viewer.get(f"{PAGE}history/3/actions").status_code == 503
