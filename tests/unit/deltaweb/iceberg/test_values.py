"""Single values, held against what pyiceberg makes of them."""

import datetime as dt
from decimal import Decimal

import pyarrow as pa
import pytest
from pyiceberg.conversions import to_bytes
from pyiceberg.types import (
    BinaryType,
    BooleanType,
    DateType,
    DecimalType,
    DoubleType,
    FloatType,
    IntegerType,
    LongType,
    StringType,
    TimestamptzType,
)

from deltaweb.iceberg.values import bound_bytes, decimal_bytes, partition_bytes

UTC_MICROS = pa.timestamp("us", "UTC")
MOMENT = dt.datetime(1969, 12, 31, 23, 59, 59, 999999, dt.UTC)
CASES = [
    pytest.param(pa.int8(), IntegerType(), [0, -128, 127], id="byte"),
    pytest.param(pa.int16(), IntegerType(), [-32768], id="short"),
    pytest.param(pa.int32(), IntegerType(), [-1, 2**31 - 1], id="integer"),
    pytest.param(pa.int64(), LongType(), [-(2**63), 7], id="long"),
    pytest.param(pa.float32(), FloatType(), [-0.0, 1.5], id="float"),
    pytest.param(pa.float64(), DoubleType(), [1e300], id="double"),
    pytest.param(pa.bool_(), BooleanType(), [True, False], id="boolean"),
    pytest.param(pa.string(), StringType(), ["", "añ😀"], id="string"),
    pytest.param(pa.binary(), BinaryType(), [b"\x00\xff"], id="binary"),
    pytest.param(pa.date32(), DateType(), [dt.date(1969, 12, 31)], id="date"),
    pytest.param(UTC_MICROS, TimestamptzType(), [MOMENT], id="timestamp"),
    pytest.param(
        pa.decimal128(9, 2),
        DecimalType(9, 2),
        [Decimal("1.27"), Decimal("1.28"), Decimal("-1.28"), Decimal("-1.29")],
        id="decimal",
    ),
    pytest.param(
        pa.decimal128(18, 0),
        DecimalType(18, 0),
        [Decimal(10**18 - 1), Decimal(1 - 10**18), Decimal(0), Decimal(-1)],
        id="a decimal as long as a long",
    ),
    pytest.param(
        pa.decimal128(38, 1),
        DecimalType(38, 1),
        [Decimal("-1234567890123456789012345678901234567.8")],
        id="a long decimal",
    ),
]


@pytest.mark.parametrize(("kind", "iceberg", "values"), CASES)
def test_a_bound_is_what_iceberg_says(kind, iceberg, values):
    made = bound_bytes(pa.array([*values, None], kind))

    assert made.to_pylist() == [*(to_bytes(iceberg, one) for one in values), None]


def test_decimals_of_partitions_have_one_width() -> None:
    kind = pa.decimal128(9, 2)
    made = partition_bytes(pa.array([Decimal("-0.01"), Decimal("9999999.99")], kind))

    assert made.to_pylist() == [b"\xff\xff\xff\xff", (999999999).to_bytes(4, "big")]
    assert [decimal_bytes(one) for one in (1, 2, 3, 9, 10, 18, 38)] == [
        *(1, 1, 2, 4, 5, 8, 16)
    ]
