import json
from typing import Any

import pytest

from deltaweb.delta.errors import UnsupportedFeatureError
from deltaweb.delta.features.registry import reading_refusal
from deltaweb.delta.features.type_widening import is_widening, unknown_type_changes
from deltaweb.delta.protocol.actions import Metadata, Protocol
from deltaweb.delta.protocol.schema import parse_type

WIDENED = Protocol(
    min_reader_version=3, min_writer_version=7, reader_features=["typeWidening"]
)
PLAIN = Protocol(min_reader_version=1, min_writer_version=2)


def changed(column: dict[str, Any]) -> Metadata:
    schema = {"type": "struct", "fields": [{"name": "c", **column}]}
    return Metadata(id="t", schema_string=json.dumps(schema))


def told(*changes: object, data_type: object = "long") -> Metadata:
    return changed({"type": data_type, "metadata": {"delta.typeChanges": [*changes]}})


def change(narrow: object, wide: object, **more: str) -> dict[str, object]:
    return {"fromType": narrow, "toType": wide, **more}


@pytest.mark.parametrize(
    ("narrow", "wide"),
    [
        ("byte", "short"),
        ("byte", "long"),
        ("short", "integer"),
        ("integer", "long"),
        ("float", "double"),
        ("byte", "double"),
        ("integer", "double"),
        ("date", "timestamp_ntz"),
        ("decimal(5,2)", "decimal(7,2)"),
        ("decimal(5,2)", "decimal(7,4)"),
        ("byte", "decimal(10,0)"),
        ("integer", "decimal(12,2)"),
        ("long", "decimal(20,0)"),
        ("long", "decimal(38,18)"),
    ],
)
def test_a_change_of_the_specification_is_one(narrow: str, wide: str) -> None:
    assert is_widening(parse_type(narrow), parse_type(wide))
    assert unknown_type_changes(WIDENED, told(change(narrow, wide))) == []


@pytest.mark.parametrize(
    ("narrow", "wide"),
    [
        ("long", "integer"),
        ("long", "double"),
        ("double", "float"),
        ("date", "timestamp"),
        ("timestamp", "timestamp_ntz"),
        ("string", "long"),
        ("decimal(5,2)", "decimal(6,4)"),
        ("decimal(5,2)", "decimal(7,1)"),
        ("byte", "decimal(4,1)"),
        ("long", "decimal(19,0)"),
        ("boolean", "decimal(38,0)"),
    ],
)
def test_any_other_change_is_named(narrow: str, wide: str) -> None:
    metadata = told(change(narrow, wide))

    found = reading_refusal(WIDENED, metadata, root="/t", version=1)

    assert not is_widening(parse_type(narrow), parse_type(wide))
    assert isinstance(found, UnsupportedFeatureError)
    assert "typeWidening of c from" in found.message


def test_a_change_of_an_element_is_found_wherever_it_is_told() -> None:
    inner = {
        "name": "x",
        "type": {"type": "array", "elementType": "integer"},
        "metadata": {
            "delta.typeChanges": [change("string", "integer", fieldPath="element")]
        },
    }
    nested = {
        "type": {"type": "array", "elementType": {"type": "struct", "fields": [inner]}}
    }

    assert unknown_type_changes(WIDENED, changed(nested)) == [
        "typeWidening of c.x from string to int"
    ]


@pytest.mark.parametrize(
    "broken",
    [None, 7, "text", {}, {"fromType": "long"}, change("long", 3), change("", "long")],
)
def test_a_change_that_is_none_is_refused(broken: object) -> None:
    assert unknown_type_changes(WIDENED, told(broken)) == [
        "typeWidening of c to a type that is not known"
    ]


def test_changes_mean_nothing_where_the_protocol_does_not_know_of_them() -> None:
    assert unknown_type_changes(PLAIN, told(change("string", "long"))) == []


@pytest.mark.parametrize(
    "schema_string", [None, "", "{", "delta.typeChanges", "[" * 9**4]
)
def test_a_schema_that_does_not_parse_is_another_fault(schema_string: str | None):
    metadata = Metadata(id="t", schema_string=schema_string)

    assert unknown_type_changes(WIDENED, metadata) == []
