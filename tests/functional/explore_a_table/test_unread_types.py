"""A column of a type that is not known is shown, and the others are read."""

from dataclasses import replace
from pathlib import Path
from zoneinfo import ZoneInfo

import pytest
from django.test import Client

from apps.explorer.rows.form import RowQuery
from apps.explorer.rows.plan import row_plan
from apps.tables.models import Table
from tests.functional.explore_a_table.pages import TABLE, work
from tests.support.index.indexed_tables import new_sample_table
from tests.support.pages.answers import csv_of, json_of, text_of
from tests.support.tables.span_table import SPAN, write_span_table

pytestmark = pytest.mark.django_db


@pytest.fixture(scope="module", params=[False, True], ids=["", "partitioned"])
def written(
    tmp_path_factory: pytest.TempPathFactory, request: pytest.FixtureRequest
) -> Path:
    folder = tmp_path_factory.mktemp("spans") / "spans"
    return write_span_table(folder, is_partitioned=request.param)


@pytest.fixture
def spans(written: Path) -> Table:
    return new_sample_table("spans", written)


@pytest.mark.usefixtures("spans")
class TestPages:
    def test_are_those_of_any_table(self, viewer: Client) -> None:
        for page in ("", "schema", "files", "history", "partitions"):
            text = text_of(viewer, f"{TABLE}spans/{page}")
            assert "repair the table" not in text, page

    def test_show_the_type_in_the_schema(self, viewer: Client) -> None:
        columns = json_of(viewer, f"{TABLE}spans/schema.json")["columns"]

        assert isinstance(columns, list)
        assert [column["type"] for column in columns][1:3] == [
            SPAN,
            "interval year to month",
        ]

    def test_show_the_rows_of_the_other_columns(self, viewer: Client) -> None:
        text_of(viewer, f"{TABLE}spans/data")
        work()

        page = text_of(viewer, f"{TABLE}spans/data")

        assert page.count("not read</span></td>") == 6
        assert f"does not support the type: span ({SPAN}), months (" in page
        data = json_of(viewer, f"{TABLE}spans/data.json")
        assert data["rows"] == [
            {"id": "1", "name": "a"},
            {"id": "2", "name": "b"},
            {"id": "3", "name": None},
        ]
        columns = data["columns"]
        assert isinstance(columns, list)
        assert columns[1]["not_read"] == f"Values of type {SPAN} are not read."
        assert columns[0]["not_read"] is None
        assert csv_of(viewer, f"{TABLE}spans/data.csv")[0] == ["id", "name"]

    def test_show_a_column_without_values(self, viewer: Client) -> None:
        page = text_of(viewer, f"{TABLE}spans/schema/span")

        assert f"Values of type {SPAN} are not read." in page
        assert "1 in 1 of 1 file" in page
        assert "Profile" not in page.partition("No profile")[2]

    def test_refuse_a_question_about_it_alone(self, viewer: Client) -> None:
        for asked in ("col=span", "sort=span", "f=span:notnull", "f=span:eq:1"):
            assert viewer.get(f"{TABLE}spans/data?{asked}").status_code == 400, asked

    def test_answer_a_question_about_the_others(self, viewer: Client) -> None:
        path = f"{TABLE}spans/data.json?f=id:gt:1&sort=-id&col=id&col=span"
        viewer.get(path)
        work()

        assert json_of(viewer, path)["rows"] == [{"id": "3"}, {"id": "2"}]

    def test_show_the_values_of_the_others_in_a_record(self, viewer: Client) -> None:
        text_of(viewer, f"{TABLE}spans/data/1")
        work()

        page = text_of(viewer, f"{TABLE}spans/data/1")

        assert f"Values of type {SPAN} are not read." in page
        values = json_of(viewer, f"{TABLE}spans/data/1.json")["values"]
        assert values == {"id": "1", "name": "a"}
        asked = viewer.get(f"{TABLE}spans/data/1/value?column=span")
        assert asked.status_code == 400

    def test_count_the_rows_of_a_page_without_read_columns(self, spans: Table) -> None:
        version = spans.metadata_versions.get()
        plan = row_plan(version.schema(), RowQuery(), ZoneInfo("UTC"))

        page = replace(plan, chosen=("span", "months"))

        assert (page.columns, page.shown) == ((), ("span", "months"))
        assert page.read_columns == ("id",)
