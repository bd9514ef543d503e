"""Statistics with types, as checkpoints hold them; JSON stands in for missing ones."""

from decimal import Decimal

import pyarrow as pa

from deltaweb.delta.values.statistics.columns import read_statistics
from tests.support import cases
from tests.support.logs.parsed_statistics import SCHEMA, column

STRUCTS = pa.struct(
    [
        ("numRecords", pa.int64()),
        ("minValues", pa.struct([("i", pa.int64()), ("t", pa.timestamp("ns"))])),
        ("maxValues", pa.struct([("i", pa.int32()), ("s", pa.large_string())])),
        ("nullCounts", pa.struct([("i", pa.int64()), ("st", pa.int64())])),
    ]
)
COLUMNS = ["i", "n", "m", "st"]
NOTHING = [
    None,
    dict.fromkeys(COLUMNS),
    {**dict.fromkeys(COLUMNS), "st": {"x": None, "y": None}},
]


class TestStructs:
    def test_are_picked_by_name_and_brought_to_type(self) -> None:
        structs = pa.chunked_array(
            [
                pa.array(
                    [
                        {
                            "numRecords": 3,
                            "minValues": {"i": 1, "t": None},
                            "maxValues": {"i": 5, "s": "z"},
                            "nullCounts": {"i": 0, "st": 1},
                        },
                        None,
                    ],
                    STRUCTS,
                )
            ]
        )

        table = read_statistics(None, structs, SCHEMA, ["i", "s", "t", "st"])

        table.validate(full=True)
        first, second = table.to_pylist()
        assert first["num_records"] == 3
        assert (first["min"]["i"], first["max"]["i"], first["max"]["s"]) == (1, 5, "z")
        assert first["null_count"]["i"] == 0
        assert first["null_count"]["st"] is None
        assert second["num_records"] is None

    @cases(
        "structs",
        {
            "none of the fields": pa.array([{"other": 1}]),
            "other types": pa.array([{"minValues": 5, "numRecords": "x"}]),
            "text for a number": pa.array([{"minValues": {"i": "x"}}]),
            "beyond the range": pa.array([{"maxValues": {"n": 300}}]),
            "fractions": pa.array([{"minValues": {"st": {"x": 1.5}}}]),
            "overflow": pa.array([{"minValues": {"m": Decimal(10) ** 30}}]),
        },
    )
    def test_that_do_not_fit_are_unknown(self, structs: pa.Array) -> None:
        table = read_statistics(None, pa.chunked_array([structs]), SCHEMA, COLUMNS)

        row = table.to_pylist()[0]
        assert row["num_records"] is None
        assert row["min"] in NOTHING
        assert row["max"] in NOTHING

    def test_of_no_column_have_a_row_a_file(self) -> None:
        structs = pa.chunked_array([pa.array([{"minValues": {"i": 1}}] * 3)])

        assert read_statistics(None, structs, SCHEMA, []).num_rows == 3
        none = pa.chunked_array([], structs.type)
        assert read_statistics(None, none, SCHEMA, ["i"]).num_rows == 0

    def test_that_are_missing_give_way_to_json_row_by_row(self) -> None:
        structs = pa.chunked_array([pa.array([None, {"numRecords": 2}, None])])
        texts = column('{"numRecords":10}', '{"numRecords":20}', None)

        table = read_statistics(texts, structs, SCHEMA, ["i"])

        assert table["num_records"].to_pylist() == [10, 2, None]

    def test_that_are_filled_with_nulls_give_way_to_json(self) -> None:
        nothing = {"numRecords": None, "minValues": {"i": None}}
        structs = pa.chunked_array([pa.array([nothing, {"numRecords": 2}], STRUCTS)])
        texts = column('{"numRecords":10,"minValues":{"i":3}}', None)

        table = read_statistics(texts, structs, SCHEMA, ["i"])

        assert table["num_records"].to_pylist() == [10, 2]
        assert table["min"].to_pylist()[0] == {"i": 3}

    def test_that_are_not_utf_8_are_unknown(self) -> None:
        texts = pa.array([b"\xff"])
        data = pa.StringArray.from_buffers(1, *texts.buffers()[1:])
        bounds = pa.StructArray.from_arrays([data], ["s"])
        records = pa.array([5])
        structs = pa.StructArray.from_arrays(
            [records, bounds], ["numRecords", "minValues"]
        )

        table = read_statistics(None, pa.chunked_array([structs]), SCHEMA, ["s"])

        assert table["num_records"].to_pylist() == [5]
        assert table["min"].to_pylist() == [{"s": None}]

    def test_that_are_absent_leave_all_to_json(self) -> None:
        table = read_statistics(column('{"numRecords":10}'), None, SCHEMA, ["i"])

        assert table["num_records"].to_pylist() == [10]

    def test_of_decimals_are_rescaled(self) -> None:
        value = Decimal("1.5")
        structs = pa.chunked_array([pa.array([{"minValues": {"m": value}}])])

        table = read_statistics(None, structs, SCHEMA, ["m"])

        assert table["min"].to_pylist() == [{"m": value}]

    def test_that_are_all_there_leave_json_alone(self) -> None:
        structs = pa.chunked_array([pa.array([{"numRecords": 2}])])

        table = read_statistics(column('{"numRecords":10}'), structs, SCHEMA, ["i"])

        assert table["num_records"].to_pylist() == [2]
