"""Tables with more columns than a page can show."""

from pathlib import Path

import pytest
from django.test import Client

from apps.tables.models import Table, WideSchema
from tests.support.index.indexed_tables import (
    index_table,
    new_indexed_table,
    new_sample_table,
)
from tests.support.logs.delta_logs import LogBuilder, metadata
from tests.support.logs.local_logs import typed_schema
from tests.support.pages.factories import new_commit, new_metadata, new_table

PAGES = ("/", "/schema", "/history/0", "/data", "/files", "/compare/0...1")
NUM_COLUMNS = 10_500

pytestmark = pytest.mark.django_db


def schema_text(num_columns: int) -> str:
    return typed_schema(**{f"c{number}": "long" for number in range(num_columns)})


def write_log(location: Path, *schemas: str) -> Path:
    log = LogBuilder().start(table_id="wide", schemaString=schemas[0])
    for version, schema in enumerate(schemas[1:], 1):
        log.commit(version, metadata("wide", schemaString=schema))
    return log.on_disk(location)


@pytest.fixture
def too_wide() -> Table:
    """Rows as an index of such a table leaves them; making it takes a second."""
    table = new_table("wide", version=1)
    for version in (0, 1):
        new_commit(table, version)
        new_metadata(table, version, schema_string="", wide_schema_digest="ab")
    WideSchema.objects.create(
        table=table,
        digest="ab",
        num_columns=NUM_COLUMNS,
        num_fields=NUM_COLUMNS,
        schema_string=schema_text(NUM_COLUMNS),
    )
    return table


@pytest.fixture(scope="module")
def written(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_log(tmp_path_factory.mktemp("broad") / "b", schema_text(400))


@pytest.fixture
def broad(written: Path) -> Table:
    return new_sample_table("broad", written)


@pytest.mark.usefixtures("too_wide")
class TestASchemaThatIsTooWide:
    @pytest.mark.parametrize("path", PAGES)
    def test_makes_no_page_long(self, viewer: Client, path: str) -> None:
        answer = viewer.get(f"/t/default/wide{path}")

        assert answer.status_code == 200
        assert len(answer.content) < 100_000

    @pytest.mark.parametrize("path", [".json", "/schema.json", "/history/0.json"])
    def test_makes_no_answer_to_a_script_long(self, viewer: Client, path: str) -> None:
        assert len(viewer.get(f"/t/default/wide{path}").content) < 10_000

    def test_is_said_with_its_width(self, viewer: Client) -> None:
        page = viewer.get("/t/default/wide/schema").content.decode()

        assert "too wide to show" in page
        assert "10,500 columns" in page

    def test_can_be_downloaded_whole(self, viewer: Client) -> None:
        found = viewer.get("/t/default/wide/schema.json").json()
        answer = viewer.get(found["schema_url"])

        assert found["num_columns"] == NUM_COLUMNS
        assert b"".join(answer) == schema_text(NUM_COLUMNS).encode()

    def test_is_kept_once_for_versions_that_share_it(self, tmp_path: Path) -> None:
        wide, wider = schema_text(NUM_COLUMNS), schema_text(NUM_COLUMNS + 1)
        table = new_indexed_table("w", write_log(tmp_path / "w", wide, wider, wide))
        index_table(table)

        stored = table.metadata_versions
        assert [row.schema_string for row in stored.all()] == ["", "", ""]
        assert table.wide_schemas.count() == 2

    def test_has_no_pages_of_columns(self, viewer: Client) -> None:
        answer = viewer.get("/t/default/wide/schema/c1")

        assert answer.status_code == 422
        assert "too wide to show" in answer.content.decode()

    def test_is_compared_with_another_in_a_sentence(self, viewer, tmp_path):
        texts = schema_text(2), schema_text(NUM_COLUMNS)
        new_indexed_table("grown", write_log(tmp_path / "grown", *texts))

        found = viewer.get("/t/default/grown/history/1.json").json()

        assert found["changes"] == [
            {
                "subject": "schema",
                "name": "all",
                "kind": "changed",
                "before": "2 columns",
                "after": "10,500 columns",
            }
        ]


@pytest.mark.usefixtures("broad")
class TestAWideSchema:
    def test_is_shown_in_pages(self, viewer: Client) -> None:
        first = viewer.get("/t/default/broad/schema").content.decode()
        last = viewer.get("/t/default/broad/schema?page=3").content.decode()

        assert 'data-column="c149"' in first
        assert 'data-column="c150"' not in first
        assert "page 1 of 3" in first
        assert 'data-column="c399"' in last
        assert len(first) < 300_000

    def test_is_given_to_scripts_in_pages(self, viewer: Client, tmp_path: Path) -> None:
        new_indexed_table("more", write_log(tmp_path / "more", schema_text(1200)))
        found: list[str] = []

        url = "/t/default/more/schema.json"
        while url:
            page = viewer.get(url).json()
            found += [entry["path"] for entry in page["columns"]]
            url = page["next"]

        assert found == [f"c{number}" for number in range(1200)]

    def test_changes_of_a_commit_come_in_pages(self, viewer: Client) -> None:
        first = viewer.get("/t/default/broad/history/0.json").json()
        second = viewer.get(first["next"]).json()

        assert first["num_changes"] == 401
        assert (len(first["changes"]), len(second["changes"])) == (200, 200)

    @pytest.mark.parametrize(
        ("language", "beginning"),
        [
            ("ddl", "CREATE TABLE broad ("),
            ("spark", "from pyspark"),
            ("pyarrow", "import pyarrow"),
            ("json", "{\n"),
            ("log", '{"type": "struct"'),
        ],
    )
    def test_can_be_downloaded_as_code(self, viewer, language, beginning):
        answer = viewer.get(f"/t/default/broad/schema-code/{language}")

        text = b"".join(answer).decode()
        assert text.startswith(beginning)
        assert "c399" in text

    def test_a_language_that_is_none_is_said(self, viewer: Client) -> None:
        answer = viewer.get("/t/default/broad/schema-code/cobol")

        assert answer.status_code == 404
        assert "ddl, spark, pyarrow, json" in answer.content.decode()
