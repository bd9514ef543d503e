from decimal import Decimal

import pyarrow as pa

from deltaweb.delta.table_changes.value_text import as_text


def test_a_decimal_as_text_has_no_exponent() -> None:
    small = pa.array([Decimal("0.0000000001"), None], pa.decimal128(38, 10))

    assert as_text(small).to_pylist() == ["0.0000000001", None]


def test_a_decimal_inside_another_value_has_none_either() -> None:
    nested = pa.array([[Decimal("0.0000000001")]], pa.list_(pa.decimal128(38, 10)))

    assert as_text(nested).to_pylist() == ['["0.0000000001"]']
