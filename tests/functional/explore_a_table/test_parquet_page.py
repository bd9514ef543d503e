"""What all files of a table really hold: written by several hands, some of them bad."""

import csv
import io
from pathlib import Path

import pytest
from django.test import Client

from apps.jobs.models import Job
from apps.pages.templatetags.deltaweb import size
from apps.tables.work.inspect_file import INSPECT_FILE
from apps.tables.work.survey_files import SURVEY_FILES
from tests.functional.command_line import Ran, refusal, run_json
from tests.support.files.mixed_files import write_mixed_table
from tests.support.index.indexed_tables import new_indexed_table, new_sample_table
from tests.support.pages.answers import json_of, text_of

pytestmark = pytest.mark.django_db
PARQUET = "/t/default/mixed/parquet"


@pytest.fixture(autouse=True)
def _at_home(home: Path) -> None:
    """Every test has a home of its own."""


@pytest.fixture(scope="module")
def mixed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_mixed_table(tmp_path_factory.mktemp("mixed") / "mixed")


@pytest.fixture
def surveyed(viewer: Client, mixed: Path) -> Client:
    new_sample_table("mixed", mixed)
    json_of(viewer, f"{PARQUET}.json", 202)
    SURVEY_FILES.work(Job.objects.get().id)
    return viewer


class TestParquetPage:
    def test_counts_files_row_groups_codecs_and_writers(self, surveyed: Client) -> None:
        found = json_of(surveyed, f"{PARQUET}.json")

        assert (found["files"], found["rows"], found["row_groups"]) == (4, 9, 4)
        assert {one["name"] for one in found["codecs"]} == {"SNAPPY", "ZSTD"}
        assert len(found["writers"]) == 1
        assert found["engine"] == "in process"

    def test_codecs_and_encodings_add_up_to_the_size_beside_them(self, surveyed):
        found = json_of(surveyed, f"{PARQUET}.json")
        page = text_of(surveyed, PARQUET)

        sums = {
            name: sum(one["bytes"] for one in found[name])
            for name in ("codecs", "encodings")
        }
        (data_bytes,) = set(sums.values())
        whole = int(str(found["bytes"]))
        assert data_bytes < whole
        assert page.count(f"{size(data_bytes)} of columns") == 2
        assert f"{size(whole - data_bytes)} of footers" in page

    def test_a_table_smaller_than_one_file_has_no_alarm(self, surveyed: Client) -> None:
        page = text_of(surveyed, PARQUET)

        assert "below 8 MiB" not in page
        assert "dw-amber" not in page

    def test_says_how_files_differ_from_the_table(self, surveyed: Client) -> None:
        found = json_of(surveyed, f"{PARQUET}.json")["differences"]

        assert {
            (one["column"], one["relation"], one["file_type"], one["files"])
            for one in found
        } == {
            ("at", "legacy", "INT96", 1),
            ("amount", "widened", "INT32", 1),
            ("channel", "missing", None, 2),
            ("extra", "unknown", "BYTE_ARRAY STRING", 1),
        }

    def test_names_a_file_that_does_not_read(self, surveyed: Client) -> None:
        bad = json_of(surveyed, f"{PARQUET}.json")["unreadable"][0]

        assert (bad["name"], bad["files"]) == ("parquet-not-a-file", 1)
        assert bad["example"] == "bad.parquet"

    def test_the_page_leads_to_the_files(self, surveyed: Client) -> None:
        page = text_of(surveyed, PARQUET)

        assert "What this costs" in page
        assert "so no row group of theirs can be skipped by it." in page
        assert "/t/default/mixed/files/legacy.parquet" in page
        assert "All 4 row groups have 256 B to 512 B." in page  # no picture of one bar
        assert "Stored in more than one way" in page
        assert " style=" not in page

    def test_the_csv_form_has_the_differences(self, surveyed: Client) -> None:
        text = b"".join(surveyed.get(f"{PARQUET}.csv")).decode()
        lines = list(csv.reader(io.StringIO(text)))

        assert lines[0][:4] == ["column", "in_table", "in_files", "relation"]
        assert len(lines) == 5

    def test_it_is_read_once_for_a_version(self, surveyed: Client) -> None:
        text_of(surveyed, PARQUET)

        assert Job.objects.count() == 1


class TestFilesLikeOne:
    def test_are_counted_on_the_page_of_the_file(self, surveyed: Client) -> None:
        file = "/t/default/mixed/files/legacy.parquet"
        json_of(surveyed, f"{file}.json", 202)
        INSPECT_FILE.work(Job.objects.get(kind=INSPECT_FILE.name).id)

        page = text_of(surveyed, file)

        assert '<a class="dw-link" href="/t/default/mixed/parquet">2 files like' in page
        assert page.count("files like this") == 1  # of those that others share


class TestCommand:
    def test_prints_what_the_page_shows(self, surveyed: Client, mixed: Path) -> None:
        shown = run_json("table", "survey", "mixed")
        page = json_of(surveyed, f"{PARQUET}.json")

        names = ["files", "rows", "row_groups", "differences", "writers", "codecs"]
        assert [shown[name] for name in names] == [page[name] for name in names]
        assert shown["engine"] == "in process"
        assert run_json("table", "survey", mixed)["files"] == 4

    @pytest.mark.usefixtures("surveyed")
    def test_is_lines_for_people(self) -> None:
        lines = Ran("table", "survey", "mixed").stdout.splitlines()
        words = [line.split() for line in lines]

        assert ["row", "groups", "4"] in words
        assert ["amount", "bigint", "INT32", "widened", "1"] in [w[:5] for w in words]
        assert any("so no row group of theirs" in line for line in lines)

    @pytest.mark.usefixtures("surveyed")
    def test_of_a_version_that_is_not_there_is_refused(self) -> None:
        assert "version 7" in refusal("table", "survey", "mixed", "--version", 7)


class TestStates:
    def test_a_table_without_files_says_so(self, viewer: Client, tmp_path: Path):
        new_indexed_table("mixed", write_mixed_table(tmp_path / "mixed", is_empty=True))
        text_of(viewer, PARQUET)
        SURVEY_FILES.work(Job.objects.get().id)

        assert "The table is empty at v0" in text_of(viewer, PARQUET)

    def test_while_the_job_waits_the_page_says_what_it_does(self, viewer, mixed):
        new_sample_table("mixed", mixed)

        assert "Reading the footers of all files" in text_of(viewer, PARQUET)
