"""Values of rows in an answer of JSON: whole, or known to be cut."""

import pyarrow as pa

from apps.explorer.rows.selector import bounded_values


def test_long_bytes_are_whole_where_there_is_room_and_else_known_to_be_cut() -> None:
    image = bytes(100_000)
    rows = pa.table({"image": [image], "item": [{"image": image}]})

    whole = [bounded_values(column, 1_000_000) for column in rows.columns]
    (start, is_cut) = bounded_values(rows["image"], 50_000)[0]

    assert whole == [[(image.hex(), False)], [({"image": image.hex()}, False)]]
    assert (start, is_cut) == (image.hex()[:50_000], True)
