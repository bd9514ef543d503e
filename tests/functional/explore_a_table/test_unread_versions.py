"""Tables that ask for features which are not read: what is said and what is shown."""

import json
from pathlib import Path
from typing import Any

import pytest
from django.test import Client

from apps.tables.models import Table
from deltaweb.delta.protocol.schema import PrimitiveType, StructField, StructType
from deltaweb.delta.protocol.schema.field_keys import FIELD_ID, PHYSICAL_NAME
from deltaweb.storage.local import LocalTableStore
from tests.functional.explore_a_table.pages import TABLE, work
from tests.support.index.indexed_tables import new_indexed_table
from tests.support.pages.answers import json_of, text_of
from tests.support.pages.factories import new_table
from tests.support.tables.versioned_table import VersionedTable

pytestmark = pytest.mark.django_db


def stored_as(number: int) -> dict[str, object]:
    """What the log says of a column that is mapped."""
    return {FIELD_ID: number, PHYSICAL_NAME: f"col-{number}"}


SCHEMA = StructType(
    (
        StructField("id", PrimitiveType("long"), metadata=stored_as(1)),
        StructField("day", PrimitiveType("string"), metadata=stored_as(2)),
    )
)


def only(entries: object) -> dict[str, Any]:
    """The one entry of a list in a JSON form."""
    assert isinstance(entries, list)
    (entry,) = entries
    return dict(entry)


@pytest.fixture
def managed(tmp_path: Path) -> Table:
    """A table of a catalog with mapped columns, partitioned by one of them."""
    written = VersionedTable(LocalTableStore(str(tmp_path / "visits")))
    metadata = written.define(SCHEMA, {"delta.columnMapping.mode": "name"})
    written.commit(metadata=metadata, add={"a": [{"id": 1, "day": "Monday"}]})
    log = Path(written.store.root, "_delta_log", f"{0:020d}.json")
    actions = [json.loads(line) for line in log.read_text().splitlines()]
    for action in actions:
        if "protocol" in action:
            features = ["catalogManaged", "columnMapping"]
            action["protocol"] = {
                "minReaderVersion": 3,
                "minWriterVersion": 7,
                "readerFeatures": features,
                "writerFeatures": features,
            }
        if "metaData" in action:
            action["metaData"]["partitionColumns"] = ["day"]
        if "add" in action:
            action["add"]["partitionValues"] = {"col-2": "Monday"}
    log.write_text("".join(f"{json.dumps(action)}\n" for action in actions))
    return new_indexed_table("visits", Path(written.store.root))


@pytest.mark.usefixtures("managed")
class TestATableOfACatalog:
    def test_has_a_banner_that_names_the_feature_and_who_reads_it(self, viewer: Client):
        page = text_of(viewer, f"{TABLE}visits/")

        assert "The rows of v0 cannot be read here." in page
        assert "<code>catalogManaged</code>: clients that ask the table" in page
        assert "not read here: catalogManaged" in page
        assert "not every file has statistics" not in page

    def test_lists_its_files_by_the_names_of_columns(self, viewer: Client) -> None:
        viewer.get(f"{TABLE}visits/files")
        work()

        file = only(json_of(viewer, f"{TABLE}visits/files.json")["files"])

        assert file["partition_values"] == {"day": "Monday"}
        assert file["num_records"] is None
        page = text_of(viewer, f"{TABLE}visits/files?partition=day=Monday")
        assert "a-1.parquet" in page

    def test_has_a_size_in_the_catalogue(self, viewer: Client) -> None:
        row = only(json_of(viewer, "/tables.json")["tables"])

        assert row["size_bytes"] > 0
        assert row["num_records"] is None


def test_a_size_that_nobody_knows_is_not_0(viewer: Client) -> None:
    new_table(size_bytes=None, num_files=None, num_records=None)

    page = text_of(viewer, "/tables/")

    assert "size unknown" in page
    assert "0 B" not in page
    assert page.count('<span class="visually-hidden">unknown</span>') >= 2


class TestASmallTable:
    @pytest.mark.usefixtures("orders")
    def test_raises_no_alarm_over_its_files(self, viewer: Client) -> None:
        page = text_of(viewer, f"{TABLE}orders/")

        assert "target 128" not in page
        assert "small:" not in page
        assert "small table: fits in one file" in page


class TestTheFilesPage:
    @pytest.mark.usefixtures("orders")
    def test_has_bars_of_sizes_that_filter_the_list(self, viewer: Client) -> None:
        page = text_of(viewer, f"{TABLE}orders/files")
        figure = page.split('<script id="file-sizes" type="application/json">')[1]
        bars = json.loads(figure.split("</script>")[0])["data"][0]
        counts = dict(zip(map(tuple, bars["customdata"]), bars["y"], strict=True))
        (_, smallest, largest), count = next(item for item in counts.items() if item[1])

        listed = json_of(
            viewer, f"{TABLE}orders/files.json?min={smallest}&max={largest}"
        )

        assert listed["count"] == count


class TestTheHead:
    @pytest.mark.usefixtures("orders")
    @pytest.mark.parametrize(
        ("path", "has_ribbon"),
        [("?v=3", True), ("history/3", False), ("compare/2...3?view=schema", False)],
    )
    def test_says_which_version_is_shown_where_the_page_is_of_the_table(
        self, viewer: Client, path: str, *, has_ribbon: bool
    ) -> None:
        page = text_of(viewer, f"{TABLE}orders/{path}")

        assert ("You are looking at" in page) is has_ribbon

    def test_says_when_storage_was_asked_since(self, viewer: Client, orders: Table):
        assert ", checked " not in text_of(viewer, f"{TABLE}orders/")
        Table.objects.update(probed_at=orders.indexed_at.replace(year=2027))  # type: ignore[union-attr]

        assert ", checked " in text_of(viewer, f"{TABLE}orders/")


def test_a_commit_tells_the_rows_of_what_it_removed(viewer: Client, tmp_path: Path):
    written = VersionedTable(LocalTableStore(str(tmp_path / "visits")))
    rows = [{"id": 1}, {"id": 2}, {"id": 3}]
    schema = StructType((StructField("id", PrimitiveType("long")),))
    written.commit(metadata=written.define(schema), add={"a": rows, "b": rows})
    written.commit(remove=["a"])
    new_indexed_table("visits", Path(written.store.root))

    page = text_of(viewer, f"{TABLE}visits/history/1")

    removed = only(json_of(viewer, f"{TABLE}visits/history/1.json")["removed"])
    assert removed["num_records"] == 3
    assert "1 · 3 rows" in page.split("<h2>Files removed</h2>")[1].split("</div>")[0]
