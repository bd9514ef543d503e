from typing import Any

import pytest

from apps.explorer.columns.column_facts import column_facts


def change(narrow: object, wide: object, **more: str) -> dict[str, object]:
    return {"fromType": narrow, "toType": wide, **more}


@pytest.mark.parametrize(
    ("metadata", "fact"),
    [
        ({"__CHAR_VARCHAR_TYPE_STRING": "varchar(10)"}, ("declared as", "varchar(10)")),
        (
            {"__COLLATIONS": {"s": "spark.UTF8_LCASE"}},
            ("collation", "spark.UTF8_LCASE"),
        ),
        (
            {"__COLLATIONS": {"s.element": "icu.UNICODE"}},
            ("collation", "element: icu.UNICODE"),
        ),
        (
            {
                "delta.typeChanges": [
                    change("byte", "integer"),
                    change("integer", "long", fieldPath="element"),
                ]
            },
            ("widened", "tinyint to int, element: int to bigint"),
        ),
    ],
)
def test_metadata_is_told_in_words(metadata: dict[str, Any], fact: tuple[str, str]):
    assert list(column_facts("s", metadata)) == [fact]


@pytest.mark.parametrize("told", [None, 7, "x", {}, [1], [{}], [change(1, "long")]])
@pytest.mark.parametrize(
    "key", ["delta.typeChanges", "__COLLATIONS", "delta.invariants"]
)
def test_whatever_a_log_says_is_shown(key: str, told: object) -> None:
    ((_, text),) = column_facts("s", {key: told})

    assert isinstance(text, str)
