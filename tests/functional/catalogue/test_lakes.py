"""Lakes: a folder or a bucket is added, scanned, changed and forgotten."""

import shutil
from pathlib import Path

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.urls import reverse

from apps.jobs.models import Job
from apps.pages.actions import COMMAND_LINE, Stamp
from apps.tables.catalogue.lakes.scan_job import SCAN_ROOT
from apps.tables.catalogue.lakes.services import LakeRule, add_lake
from apps.tables.models import Lake, Table
from apps.tables.storage.connections import add_connection
from apps.tables.storage.roots import allow_root
from tests.functional.catalogue.pages import as_csv, as_json, text
from tests.support.pages.factories import NOW

pytestmark = pytest.mark.django_db
STAMP = Stamp(COMMAND_LINE, NOW)
LAKES = "/tables/lakes/"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    for name in ("orders", "sales/items"):
        (tmp_path / name / "_delta_log").mkdir(parents=True)
    allow_root(str(tmp_path), reason="LAKE", now=NOW)
    return tmp_path


@pytest.fixture
def lake(folder: Path) -> Lake:
    return add_lake(str(folder), LakeRule(schedule="1h"), stamp=STAMP)


def scan(editor: Client, lake: Lake) -> None:
    """Ask for a scan and do the worker's part."""
    editor.post(f"{lake.get_absolute_url()}/scan")
    SCAN_ROOT.work(Job.objects.get(kind=SCAN_ROOT.name, state=Job.State.QUEUED).id)


def test_an_empty_list_says_what_to_do(editor: Client) -> None:
    shown = text(editor, LAKES)

    assert "No lakes yet" in shown
    assert "/tables/new/scan" in shown
    assert as_json(editor, "/tables/lakes.json") == {
        "count": 0,
        "next": None,
        "lakes": [],
    }


def test_a_lake_is_added_with_its_rule_and_shows_its_scan(editor: Client, folder: Path):
    asked = {"root": str(folder), "namespace": "raw", "schedule": "1d"}
    answer = editor.post(reverse("tables:table-scan"), asked)
    lake = Lake.objects.get()
    assert answer["Location"] == lake.get_absolute_url()
    assert "Scanning" in text(editor, lake.get_absolute_url())

    SCAN_ROOT.work(Job.objects.get().id)

    shown = text(editor, lake.get_absolute_url())
    assert "2 tables registered" in shown
    assert "2 tables in 4 folders" in " ".join(shown.split())
    told = as_json(editor, f"{lake.get_absolute_url()}.json")
    assert (told["schedule"], told["namespace"], told["owner"]) == ("1d", "raw", "eve")
    assert (told["num_tables"], told["scan"]["result"]["found"]) == (2, 2)


def test_a_vanished_table_is_named_and_found_by_its_mark(editor: Client, lake: Lake):
    scan(editor, lake)
    shutil.rmtree(Path(lake.url) / "orders")
    scan(editor, lake)

    told = as_json(editor, f"{lake.get_absolute_url()}.json")
    assert [table["name"] for table in told["vanished"]] == ["orders"]
    assert (told["num_tables"], told["num_vanished"]) == (1, 1)
    marked = as_json(editor, "/tables.json", mark="vanished")
    assert [table["name"] for table in marked["tables"]] == ["orders"]
    assert "vanished" in text(editor, "/t/default/orders/")
    assert "/t/default/orders/" in text(editor, lake.get_absolute_url())


def test_a_failed_scan_says_why(editor: Client, lake: Lake) -> None:
    shutil.rmtree(lake.url)
    scan(editor, lake)

    shown = text(editor, lake.get_absolute_url())

    assert "does not exist" in shown
    assert as_json(editor, "/tables/lakes.json")["lakes"][0]["state"] == "failed"
    assert "not reached" in text(editor, LAKES)


def test_the_rule_of_a_lake_is_changed(editor: Client, lake: Lake) -> None:
    editor.post(lake.get_absolute_url(), {"namespace": "raw", "schedule": "never"})

    lake.refresh_from_db()
    assert (lake.namespace, lake.scan_interval_s) == ("raw", 0)
    refused = editor.post(lake.get_absolute_url(), {"namespace": "a b"})
    assert refused.status_code == 422
    assert "it contains" in refused.content.decode()


def test_a_lake_is_forgotten_and_its_tables_stay(editor: Client, lake: Lake) -> None:
    scan(editor, lake)

    editor.post(f"{lake.get_absolute_url()}/remove")

    assert not Lake.objects.exists()
    assert Table.objects.count() == 2
    assert editor.get(lake.get_absolute_url()).status_code == 404


def test_the_list_names_the_connection_that_reaches_a_lake(editor: Client) -> None:
    for name, prefix in (("all", "s3://bucket"), ("raw", "s3://bucket/raw")):
        add_connection(name=name, prefix=prefix, options={}, stamp=STAMP)
    for place in ("s3://bucket/raw/x", "s3://bucket/y", "s3://other"):
        add_lake(place, stamp=STAMP)

    header, *rows = as_csv(editor, "/tables/lakes.csv")

    assert header[:3] == ["url", "namespace", "connection"]
    assert [row[2] for row in rows] == ["raw", "all", ""]
    assert "the server’s own credentials" in text(editor, LAKES)


def test_the_list_asks_the_database_a_fixed_number_of_times(editor, tmp_path):
    counts = []
    for number in range(1, 8):
        add_lake(f"{tmp_path}/{number}", stamp=STAMP)
        if number in {1, 7}:
            with CaptureQueriesContext(connection) as queries:
                text(editor, LAKES)
            counts.append(len(queries))

    assert counts[0] == counts[1]


@pytest.mark.parametrize("path", [LAKES, "/tables/new/scan", "/tables/lakes.json"])
def test_viewers_are_not_let_in(viewer: Client, path: str, lake: Lake) -> None:
    assert viewer.get(path).status_code == 403
    assert viewer.get(lake.get_absolute_url()).status_code == 403
    for action in ("scan", "remove"):
        assert viewer.post(f"{lake.get_absolute_url()}/{action}").status_code == 403
    assert Lake.objects.exists()


@pytest.mark.parametrize("path", ["/", "/tables/"])
def test_a_scan_that_runs_is_shown_where_its_tables_appear(path, editor, viewer, lake):
    editor.post(f"{lake.get_absolute_url()}/scan")
    Job.objects.update(
        state=Job.State.RUNNING,
        step="Looking for tables",
        progress_done=120,
        progress_unit="tables in 130 folders",
    )

    shown = " ".join(text(editor, path).split())

    assert f"Scan {lake.url}" in shown
    assert "Looking for tables: 120 tables in 130 folders" in shown
    assert lake.url not in text(viewer, path)
    Job.objects.update(state=Job.State.DONE)
    assert f"Scan {lake.url}" not in text(editor, path)
