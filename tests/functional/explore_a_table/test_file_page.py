"""One Parquet file of a table: reached from the list, read by a job, shown by parts."""

import re
from html import unescape
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from django.test import Client

from apps.jobs.models import Job
from apps.tables.work.inspect_file import INSPECT_FILE
from apps.tables.work.preview_file import PREVIEW_FILE
from tests.functional.explore_a_table.pages import HTMX
from tests.support.index.indexed_tables import new_sample_table
from tests.support.logs.delta_logs import add, commit_bytes, metadata, protocol
from tests.support.logs.local_logs import typed_schema
from tests.support.pages.answers import json_of, text_of

pytestmark = pytest.mark.django_db
FILES = "/t/default/events/files"
PART = f"{FILES}/part-0.parquet"
COLUMNS = 130


@pytest.fixture(autouse=True)
def _at_home(home: Path) -> None:
    """Every test has a home of its own."""


@pytest.fixture(scope="module")
def written(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A table of one file of many columns and row groups, in a partition's folder."""
    table = tmp_path_factory.mktemp("files") / "events"
    part = table / "day=2026-11-20" / "part-0.parquet"
    part.parent.mkdir(parents=True)
    (table / "_delta_log").mkdir()
    columns: dict[str, object] = {f"c{n}": [1, 2, 3, 4, 5, 6] for n in range(COLUMNS)}
    columns |= {"note": ["a", "b", None, "d", "e", "f"]}
    rows = pa.table({**columns, "at": pa.array([0] * 6, pa.timestamp("ns"))})
    rows = rows.replace_schema_metadata({"why": "x" * 5_000})
    pq.write_table(rows, part, row_group_size=2, use_deprecated_int96_timestamps=True)
    schema = typed_schema(c0="long", note="string", at="timestamp", later="date")
    path = "day=2026-11-20/part-0.parquet"
    size = part.stat().st_size
    actions = [protocol(), metadata(schemaString=schema), add(path, size=size)]
    (table / "_delta_log" / f"{0:020}.json").write_bytes(commit_bytes(*actions))
    return table


@pytest.fixture
def folder(written: Path) -> Path:
    """The table, which has an index."""
    new_sample_table("events", written)
    return written


def work() -> None:
    for job in Job.objects.filter(state=Job.State.QUEUED):
        kind = INSPECT_FILE if job.kind == INSPECT_FILE.name else PREVIEW_FILE
        kind.work(job.id)


@pytest.fixture
def footer(viewer: Client, folder: Path) -> None:  # noqa: ARG001 (a table)
    """What the footer of the file says, which a job has read."""
    json_of(viewer, f"{PART}.json", 202)
    work()


@pytest.mark.usefixtures("folder")
class TestFilePage:
    def test_is_reached_from_the_list_of_files(self, viewer: Client) -> None:
        listed = text_of(viewer, FILES)
        link = next(
            unescape(found)
            for found in re.findall(r'href="([^"]+)"', listed)
            if "part-0.parquet" in found
        )

        assert link == f"{PART}?folder=day%3D2026-11-20"
        assert "Reading the footer of the file" in text_of(viewer, link)

    def test_the_first_rows_are_read_by_a_job_of_their_own(self, viewer: Client):
        json_of(viewer, f"{PART}.json?rows=1", 202)
        work()

        page = text_of(viewer, f"{PART}?rows=1")
        rows = json_of(viewer, f"{PART}.json?rows=1")["rows"]

        assert "First rows" in page
        assert [row["note"] for row in rows][:3] == ["a", "b", None]

    def test_the_footer_is_read_once(self, viewer: Client) -> None:
        for _ in range(2):
            viewer.get(f"{PART}.json")
            work()

        assert Job.objects.filter(kind=INSPECT_FILE.name).count() == 1


@pytest.mark.usefixtures("footer")
class TestTheFooter:
    def test_the_name_alone_is_enough_where_one_file_has_it(self, viewer: Client):
        found = json_of(viewer, f"{PART}.json")

        assert found["file"]["path"] == "day=2026-11-20/part-0.parquet"
        assert found["footer"]["num_row_groups"] == 3

    def test_shows_the_footer_by_parts(self, viewer: Client) -> None:
        page = text_of(viewer, PART)

        assert "132 columns in 132 nodes" in page
        assert "is stored as INT96, which has no defined order." in page
        assert "columns 1 to 12 of 132, the largest first" in page
        assert "nodes 1 to 100 of 132" in page
        assert 'data-chart="group-bytes"' in page
        assert "all 5,000 characters" in page
        assert "later" in page

    def test_a_part_alone_is_exchanged(self, viewer: Client) -> None:
        headers = {**HTMX, "HX-Target": "file-group"}
        part = text_of(viewer, f"{PART}?group=2&cols=11", **headers)

        assert "<html" not in part
        assert "Row group 2" in part
        assert "columns 121 to 132 of 132" in part
        assert len(part) < 20_000

    def test_one_column_is_shown_over_all_row_groups(self, viewer: Client) -> None:
        found = json_of(viewer, f"{PART}.json?column=0")["column"]
        legacy = json_of(viewer, f"{PART}.json?column=131")["column"]

        ranges = [(one["min"], one["max"]) for one in found["row_groups"]]
        assert ranges == [("1", "2"), ("3", "4"), ("5", "6")]
        assert legacy["num_ranges"] == 0

    def test_the_schema_is_filtered_by_name_and_type(self, viewer: Client) -> None:
        found = json_of(viewer, f"{PART}.json?q=NOTE")["schema"]

        assert [one["path"] for one in found["nodes"]] == [["note"]]
        assert found["nodes"][0]["table_type"] == "string"
        assert "No node matches" in text_of(viewer, f"{PART}?q=nowhere")

    @pytest.mark.parametrize("language", ["delta", "spark", "arrow"])
    def test_the_schema_is_written_as_others_write_it(self, viewer, language):
        page = text_of(viewer, f"{PART}?as={language}")
        whole = text_of(viewer, f"{PART}/text/{language}")

        assert 'id="schema-code"' in page
        assert "note" in whole

    def test_a_long_value_is_sent_whole(self, viewer: Client) -> None:
        texts = [text_of(viewer, f"{PART}/text/{place}") for place in range(2)]

        assert "x" * 5_000 in texts
        assert viewer.get(f"{PART}/text/99").status_code == 404

    @pytest.mark.parametrize(
        "query", ["group=-1", "column=x", "as=avro", "rows=2", "page=0"]
    )
    def test_an_address_that_cannot_be_read_says_so(self, viewer: Client, query: str):
        assert json_of(viewer, f"{PART}.json?{query}", 400)["error"] == "query-invalid"

    def test_what_is_beyond_the_last_is_the_last(self, viewer: Client) -> None:
        found = json_of(viewer, f"{PART}.json?group=99&cols=99&page=99")

        assert found["group"]["number"] == 2
        assert "has no column 999" in text_of(viewer, f"{PART}?column=999")


class TestOtherFiles:
    def test_a_file_that_no_version_lists_is_not_found(self, viewer, folder):
        assert folder.is_dir()
        found = json_of(viewer, f"{FILES}/other.parquet.json", 404)

        assert found["error"] == "file-not-listed"

    def test_one_below_the_table_may_be_asked_for(self, viewer: Client, folder: Path):
        pq.write_table(pa.table({"left": [1]}), folder / "left.parquet")
        address = f"{FILES}/left.parquet.json?unlisted=1"
        json_of(viewer, address, 202)
        work()

        found = json_of(viewer, address)

        assert found["footer"]["num_rows"] == 1
        assert "not a file of v0" in text_of(viewer, address.replace(".json", ""))

    @pytest.mark.parametrize(
        "away", ["..", "day/../..", "/etc", "file:///etc", "%2e%2e", "s3://other"]
    )
    def test_one_elsewhere_may_not(self, viewer: Client, folder: Path, away: str):
        pq.write_table(pa.table({"secret": [1]}), folder.parent / "x.parquet")

        response = viewer.get(
            f"{FILES}/x.parquet.json", {"unlisted": "1", "folder": away}
        )

        assert response.status_code == 404
        assert not Job.objects.exists()

    def test_a_file_that_is_gone_says_so(self, viewer: Client, folder: Path) -> None:
        part = folder / "day=2026-11-20" / "part-0.parquet"
        away = part.rename(part.with_suffix(".away"))
        json_of(viewer, f"{PART}.json", 202)
        work()
        away.rename(part)

        page = text_of(viewer, PART)

        assert "The file could not be read" in page
        assert "gone from storage" in page
        assert json_of(viewer, f"{PART}.json", 422)["error"] == "data-file-missing"
