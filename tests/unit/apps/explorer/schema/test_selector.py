import json
from pathlib import Path

import pytest

from apps.explorer.columns.tree import version_tree
from apps.explorer.schema.selector import column_bounds
from apps.explorer.version.table_version import table_version
from tests.support.index.indexed_tables import new_indexed_table
from tests.support.logs.delta_logs import add
from tests.support.logs.local_logs import LocalLog, stats_of, typed_schema
from tests.support.pages.factories import new_user

pytestmark = pytest.mark.django_db
LONG = "x" * 1_000_000


@pytest.fixture
def log(tmp_path: Path) -> LocalLog:
    return LocalLog(tmp_path)


def bounds_of(log: LocalLog) -> dict[str, tuple[str, str, int]]:
    new_indexed_table("orders", Path(log.location))
    at = table_version(new_user("vera"), "default", "orders")
    found = column_bounds(at, version_tree(at.metadata).columns)
    return {
        path: (bounds.minimum, bounds.maximum, bounds.coverage_percent)
        for path, bounds in found.items()
    }


def test_tells_bounds_and_coverage_of_each_column(log: LocalLog) -> None:
    log.start(
        add("a", stats=stats_of(2, {"id": 1, "name": "a"}, {"id": 7, "name": "f"})),
        add("b", stats=stats_of(2, {"id": 3}, {"id": 99})),
        schemaString=typed_schema(id="long", name="string", price="double"),
    )

    assert bounds_of(log) == {"id": ("1", "99", 100), "name": ("a", "f", 50)}


def test_ends_of_deleted_rows_are_what_the_values_lie_within(log: LocalLog) -> None:
    text = stats_of(8, {"id": 1}, {"id": 99})
    told = json.loads(text) | {"tightBounds": False}
    vector = {
        "storageType": "u",
        "pathOrInlineDv": "ab^-aqEH.-t@S}K{vb[*k^",
        "offset": 4,
        "sizeInBytes": 40,
        "cardinality": 6,
    }
    log.start(
        add("a", stats=json.dumps(told), deletionVector=vector),
        schemaString=typed_schema(id="long"),
    )
    new_indexed_table("orders", Path(log.location))
    at = table_version(new_user("vera"), "default", "orders")

    bounds = column_bounds(at, version_tree(at.metadata).columns)["id"]

    assert bounds.is_within
    assert (bounds.minimum, bounds.maximum) == ("1", "99")
    assert (bounds.ranges.minimum, bounds.ranges.maximum) == (None, None)


def test_nothing_is_told_of_files_without_statistics(log: LocalLog) -> None:
    log.start(add("a"), schemaString=typed_schema(id="long"))

    assert bounds_of(log) == {}


def test_a_long_partition_value_is_shown_by_its_beginning(log: LocalLog) -> None:
    text = json.dumps({"numRecords": 1})
    log.start(
        add("a", partitionValues={"p": LONG}, stats=text),
        schemaString=typed_schema(id="long", p="string"),
        partitionColumns=["p"],
    )

    low, high, covered = bounds_of(log)["p"]
    assert low == high == f"{'x' * 23}…"
    assert covered == 100
