"""An annotation that is unknown or does not fit concerns its own column alone."""

from typing import Any

import pyarrow as pa
import pytest

from deltaweb.delta.errors import DataFileError
from deltaweb.delta.protocol.schema import StructType, schema_of_arrow
from deltaweb.delta.scan.data_file import DataFile
from deltaweb.parquet.values.reading import read_rows
from tests.support import cases
from tests.support.files.changed_schemas import elements_of, with_schema
from tests.support.files.lossy_files import written

ROWS = pa.table(
    {
        "n": [1, 2, 3],
        "i": pa.array([4, None, 6], pa.int32()),
        "t": pa.array([b"a", None, b"c"]),
        "s": [{"q": 1}, None, {"q": None}],
        "l": [["x", None], [], None],
        "z": [7, 8, 9],
    }
)
DATA = written(ROWS)


def annotated(name: str, **changes: Any) -> bytes:  # noqa: ANN401 (of any type)
    elements = [
        one._replace(**changes) if one.name == name else one
        for one in elements_of(DATA)
    ]
    return with_schema(DATA, elements)


def rows_of(data: bytes, schema: StructType) -> list[dict[str, Any]]:
    with DataFile("a.parquet", lambda _: pa.BufferReader(data)) as file:
        return [
            row
            for group in file.row_groups(schema, None)
            for _, columns in file.batches(schema, group)
            for row in pa.table(columns).to_pylist()
        ]


UNKNOWN_UNIT: tuple[int, dict[int, Any]] = (8, {2: {4: {}}})


@cases(
    "name, changes",
    {
        "an unknown time unit": ("n", {"logical_type": UNKNOWN_UNIT}),
        "an unknown logical type of a group": ("s", {"logical_type": (9, {})}),
        "an unknown converted type of a group": (
            "s",
            {"converted_type": "UNKNOWN(40)"},
        ),
        "an unknown converted type": ("i", {"converted_type": "UNKNOWN(40)"}),
        "text of a number": ("i", {"converted_type": "UTF8"}),
        "a list of one value": ("i", {"converted_type": "LIST"}),
        "a map of one value": ("t", {"logical_type": (2, {})}),
        "a struct as a list": ("s", {"converted_type": "LIST"}),
        "a list that is a map of no pairs": ("l", {"logical_type": (1, {})}),
        "a decimal without digits": ("n", {"converted_type": "DECIMAL"}),
        "a decimal of too many digits": (
            "t",
            {"converted_type": "DECIMAL", "precision": 77, "scale": 0},
        ),
        "a width that is none": ("i", {"logical_type": (10, {1: 24})}),
    },
)
def test_other_columns_are_read(name: str, changes: dict[str, Any]) -> None:
    data = annotated(name, **changes)
    others = ROWS.drop_columns([name])

    assert rows_of(data, schema_of_arrow(others.schema)) == others.to_pylist()


@pytest.mark.parametrize("number", [24, 40])
class TestAnUnknownConvertedType:
    """Their number 24 was once that of nulls, by which values were lost."""

    @pytest.mark.parametrize("name", ["n", "i", "t"])
    def test_leaves_the_values_as_they_are_stored(self, name: str, number: int) -> None:
        data = annotated(name, converted_type=f"UNKNOWN({number})")
        rows = ROWS.select([name])

        assert rows_of(data, schema_of_arrow(rows.schema)) == rows.to_pylist()

    def test_below_a_list(self, number: int) -> None:
        data = annotated("element", converted_type=f"UNKNOWN({number})")
        kind = pa.list_(pa.binary())
        schema = schema_of_arrow(pa.schema({"l": kind}))

        wanted = [[b"x", None], [], None]
        assert [row["l"] for row in rows_of(data, schema)] == wanted
        shown = [row["l"] for row in read_rows(pa.BufferReader(data), 3)]
        assert shown == [[{"hex": "78"}, None], [], None]


@cases(
    "name, changes, reason",
    {
        "a struct as a list": (
            "s",
            {"converted_type": "LIST"},
            "column s: invalid LIST: the field of the group must be repeated",
        ),
        "a map of one value": (
            "t",
            {"logical_type": (2, {})},
            "column t: MAP cannot annotate BYTE_ARRAY",
        ),
    },
)
def test_the_column_itself_is_refused_by_name(
    name: str, changes: dict[str, Any], reason: str
) -> None:
    data = annotated(name, **changes)

    with pytest.raises(DataFileError, match=reason) as caught:
        rows_of(data, schema_of_arrow(ROWS.select([name]).schema))
    assert "backup" not in caught.value.hint
