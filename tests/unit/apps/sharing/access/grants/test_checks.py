"""A condition and columns before they are stored as a rule."""

import json

import pytest

from apps.sharing.access.grants.checks import check_columns, check_condition
from apps.sharing.errors import ColumnsError, ConditionError
from apps.tables.models import Table
from tests.support import cases
from tests.support.pages.factories import new_metadata, new_table

pytestmark = pytest.mark.django_db


@pytest.fixture
def table() -> Table:
    table = new_table("crm.orders")
    new_metadata(table)
    return table


class TestACondition:
    @cases(
        "sql, stored",
        {
            "of a column": ("  id > 5\n", "id > 5"),
            "of a property of the recipient": (
                "note = recipient.region",
                "note = recipient.region",
            ),
            "none": (" \n", ""),
        },
    )
    def test_is_stored_without_the_space_around_it(self, table, sql, stored) -> None:
        assert check_condition(table, sql) == stored

    @cases(
        "sql",
        {
            "of a column that is missing": "price > 5",
            "that is no condition": "id + 1",
            "that ends too soon": "id >",
        },
    )
    def test_is_refused_with_the_columns_that_there_are(self, table, sql) -> None:
        with pytest.raises(ConditionError) as caught:
            check_condition(table, sql)

        assert tuple(caught.value.columns) == ("id", "note")

    def test_is_checked_by_the_newest_schema(self, table) -> None:
        field = {"name": "price", "type": "long", "nullable": True, "metadata": {}}
        text = json.dumps({"type": "struct", "fields": [field]})
        new_metadata(table, 1, schema_string=text)

        assert check_condition(table, "price > 5") == "price > 5"
        with pytest.raises(ConditionError):
            check_condition(table, "id > 5")


class TestColumns:
    @cases(
        "names, stored",
        {
            "in the order of the table": (["note", "id"], ["id", "note"]),
            "with its spelling": ([" NOTE "], ["note"]),
            "once": (["id", "ID"], ["id"]),
            "none": ([], []),
        },
    )
    def test_are_stored_as_the_table_has_them(self, table, names, stored) -> None:
        assert check_columns(table, names) == stored

    @cases("names", {"unknown": ["id", "price"], "blank": [""], "space": ["id", " "]})
    def test_are_refused_if_one_is_not_a_column(self, table, names) -> None:
        with pytest.raises(ColumnsError) as caught:
            check_columns(table, names)

        assert tuple(caught.value.columns) == ("id", "note")

    def test_are_refused_if_all_are_partition_columns(self, table) -> None:
        new_metadata(table, 1, partition_columns=["note"])

        assert check_columns(table, ["id", "note"]) == ["id", "note"]
        with pytest.raises(ColumnsError, match="partition column"):
            check_columns(table, ["note"])


def test_a_table_without_an_index_takes_no_rule() -> None:
    table = new_table("crm.new")

    assert check_condition(table, "") == ""
    assert check_columns(table, []) == []
    with pytest.raises(ConditionError, match="no index"):
        check_condition(table, "id > 5")
    with pytest.raises(ConditionError, match="no index"):
        check_columns(table, ["id"])
