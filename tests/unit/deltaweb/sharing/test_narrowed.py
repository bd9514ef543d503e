"""The metadata of a table of which a recipient sees some columns alone."""

import json
from typing import Any

import pytest

from deltaweb.delta.features.column_mapping import MAX_COLUMN_ID, mapped_schema
from deltaweb.delta.protocol.actions import Metadata
from deltaweb.delta.protocol.schema import parse_schema
from deltaweb.sharing.narrowed import narrowed

COMMENT = "comment"
ID, NESTED, NAME = (
    f"delta.columnMapping.{key}" for key in ("id", "nested.ids", "physicalName")
)


def field(
    name: str, number: int, kind: object = "long", **metadata: object
) -> dict[str, Any]:
    mapping = {ID: number, NAME: f"col-{number}", **metadata}
    return {"name": name, "type": kind, "nullable": True, "metadata": mapping}


ARRAY = {"type": "array", "elementType": "long", "containsNull": True}
INNER = {
    "type": "struct",
    "fields": [field("x", 6, comment="of salary"), field("y", 4)],
}


def table(*fields: dict[str, Any], **values: Any) -> Metadata:  # noqa: ANN401 (of metaData)
    schema = json.dumps({"type": "struct", "fields": fields})
    defaults = {"id": "a", "partition_columns": [], "configuration": {}}
    return Metadata(schema_string=schema, **{**defaults, **values})


def seen(metadata: Metadata, *columns: str) -> Metadata:
    schema = mapped_schema(parse_schema(metadata.schema_string or ""), "name")
    return narrowed(metadata, schema, columns)


@pytest.mark.parametrize(
    ("shown", "highest"),
    [
        (field("n", 2), "2"),
        (field("inside", 3, INNER), "6"),
        (field("tags", 5, ARRAY, **{NESTED: {"col-5.element": 8}}), "8"),
    ],
    ids=["plain", "struct", "nested ids"],
)
def test_the_highest_id_is_that_of_the_columns_that_are_seen(
    shown: dict[str, Any], highest: str
) -> None:
    whole = table(shown, field("salary", 9), configuration={MAX_COLUMN_ID: "9"})

    assert seen(whole, shown["name"]).configuration == {MAX_COLUMN_ID: highest}
    assert seen(whole, shown["name"], "salary").configuration == {MAX_COLUMN_ID: "9"}


@pytest.mark.parametrize("word", ["Salary", "COL-9"])
def test_a_text_that_names_a_hidden_column_is_left_out(word: str) -> None:
    fields = (field("n", 2, comment=f"see {word}"), field("m", 3, comment="a count"))
    whole = table(*fields, field("salary", 9), name=word, description=f"has {word}")

    found = seen(whole, "n", "m")

    assert (found.name, found.description) == (None, None)
    assert word.lower() not in (found.schema_string or "").lower()
    assert COMMENT not in json.loads(found.schema_string or "")["fields"][0]["metadata"]
    assert "a count" in (found.schema_string or "")


def test_comments_inside_a_column_hide_names_as_well() -> None:
    whole = table(field("inside", 3, INNER), field("salary", 9))

    assert "salary" not in (seen(whole, "inside").schema_string or "")


def test_only_what_readers_need_is_kept_of_a_column() -> None:
    default = {"CURRENT_DEFAULT": "salary * 2", "delta.generationExpression": "salary"}
    whole = table(field("n", 2, **default), field("salary", 9))

    (only,) = json.loads(seen(whole, "n").schema_string or "")["fields"]

    assert only["metadata"] == {ID: 2, NAME: "col-2"}


def test_a_hidden_partition_column_is_none() -> None:
    whole = table(field("n", 2), field("day", 3), partition_columns=["day"])

    assert seen(whole, "n").partition_columns == []
    assert seen(whole, "n", "day").partition_columns == ["day"]
