"""The schema through the versions: a lane a field, and the same as a list."""

import json
from pathlib import Path

import pytest
from django.test import Client

from tests.functional.explore_a_table.pages import TABLE
from tests.support.index.indexed_tables import new_sample_table
from tests.support.pages.answers import csv_of, json_of, text_of
from tests.support.pages.factories import new_commit, new_metadata, new_table
from tests.support.tables.mapped_tables import MappedTable, field, struct

pytestmark = pytest.mark.django_db
MAX_PAGE_BYTES = 400_000


@pytest.fixture(scope="module")
def written(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A table that renames, widens, drops and adds again."""
    day = field("day", "string", 2, "c2")
    written = MappedTable(field("cust", "integer", 1, "c1"), day)
    written.evolve(field("customer", "integer", 1, "c1"), day)
    written.evolve(field("customer", "long", 1, "c1"))
    written.evolve(field("customer", "long", 1, "c1"), field("day", "date", 3, "c3"))
    return written.on_disk(tmp_path_factory.mktemp("visits") / "visits")


@pytest.fixture
def visits(written: Path) -> None:
    new_sample_table("visits", written)


@pytest.mark.usefixtures("visits")
class TestColumnHistory:
    def test_tell_each_field_through_its_changes(self, viewer: Client) -> None:
        page = json_of(viewer, f"{TABLE}visits/schema-lanes.json")

        lanes = page["lanes"]
        assert isinstance(lanes, list)
        assert [
            (
                lane["path"],
                lane["field_id"],
                [(event["version"], event["kind"]) for event in lane["events"]],
            )
            for lane in lanes
        ] == [
            ("customer", 1, [(1, "renamed"), (2, "type widened")]),
            ("day", 2, [(2, "dropped")]),
            ("day", 3, [(3, "added again")]),
        ]

    def test_lead_to_the_commits_and_say_what_breaks(self, viewer: Client) -> None:
        page = text_of(viewer, f"{TABLE}visits/schema-lanes")

        assert f'href="{TABLE}visits/history/1"' in page
        assert "<code>customer</code> renamed from cust" in page
        assert "needs type widening" not in page  # version 2 drops a column, too
        assert "4 changes in 3 versions, 2 of them breaking" in page
        assert 'aria-label="v1: renamed from cust' in page

    def test_are_found_by_a_name_that_a_field_had(self, viewer: Client) -> None:
        page = text_of(viewer, f"{TABLE}visits/schema-lanes?q=CUST")

        assert "1 line" in page
        assert "day" not in page.partition("dw-lanes")[2].partition("</table>")[0]

    def test_are_those_of_the_version_that_is_shown(self, viewer: Client) -> None:
        page = json_of(viewer, f"{TABLE}visits/schema-lanes.json?v=1&only=changed")

        lanes = page["lanes"]
        assert isinstance(lanes, list)
        assert [lane["path"] for lane in lanes] == ["customer"]

    def test_come_as_lines(self, viewer: Client) -> None:
        lines = csv_of(viewer, f"{TABLE}visits/schema-lanes.csv?q=customer")

        assert lines == [
            ["version", "column", "change", "before", "after", "breaking"],
            ["2", "customer", "type widened", "int", "bigint", "false"],
            ["1", "customer", "renamed", "cust", "customer", "true"],
        ]

    def test_no_match_says_so(self, viewer: Client) -> None:
        page = text_of(viewer, f"{TABLE}visits/schema-lanes?q=nothing")

        assert "No column is or was named “nothing”" in page
        assert "Clear the filter" in page

    def test_another_choice_is_refused(self, viewer: Client) -> None:
        assert viewer.get(f"{TABLE}visits/schema-lanes?only=new").status_code == 400

    def test_are_a_view_of_the_schema(self, viewer: Client) -> None:
        page = text_of(viewer, f"{TABLE}visits/schema?v=1")

        assert f"{TABLE}visits/schema-lanes?v=1" in page


class TestStates:
    def test_a_table_without_metadata_has_no_schema_to_follow(self, viewer: Client):
        new_commit(new_table(summary={}), 2)

        assert "No schema to follow" in text_of(viewer, f"{TABLE}orders/schema-lanes")

    def test_schemas_that_cannot_be_read_are_counted(self, viewer: Client) -> None:
        new_metadata(new_table(summary={}), 0, schema_string="{")

        page = text_of(viewer, f"{TABLE}orders/schema-lanes")
        assert "None of the 1 schemas" in page


def test_a_page_of_400_columns_and_many_versions_is_bounded(viewer: Client) -> None:
    table = new_table(version=200, summary={})
    names = [f"column_{number}" for number in range(400)]
    for version in range(200):
        names[version % 5] = f"column_{version % 5}_at_{version}"
        fields = [
            field(name, "string", number, f"c{number}")
            for number, name in enumerate(names, 1)
        ]
        new_metadata(
            table,
            version,
            schema_string=json.dumps(struct(*fields)),
            configuration={"delta.columnMapping.mode": "name"},
        )

    page = text_of(viewer, f"{TABLE}orders/schema-lanes")

    assert "400 lines" in page
    assert len(page) < MAX_PAGE_BYTES
