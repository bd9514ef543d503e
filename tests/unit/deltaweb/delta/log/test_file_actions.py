import pyarrow as pa

from deltaweb.delta.log.file_actions import (
    DELETION_VECTOR,
    ENCODED_TEXT,
    ENCODED_VALUES,
    PARTITION_VALUES,
    as_text_map,
    dv_ids,
)

VALUES = [[("day", "2026-01-01")], None, [("day", None)]]


def named_by_its_writer(text: pa.DataType) -> pa.MapArray:
    entries = pa.map_(text, pa.field("partitionValues", text))
    return pa.array(VALUES, pa.map_(pa.string(), pa.string())).cast(entries)


class TestTextMap:
    def test_stays_encoded_whatever_its_parts_are_named(self) -> None:
        array = as_text_map(named_by_its_writer(ENCODED_TEXT))

        assert array.type == ENCODED_VALUES
        assert array.cast(PARTITION_VALUES).to_pylist() == VALUES

    def test_of_plain_texts_stays_plain(self) -> None:
        array = as_text_map(named_by_its_writer(pa.string()))

        assert array.type == PARTITION_VALUES
        assert array.to_pylist() == VALUES


class TestDeletionVectorIds:
    def test_are_one_array_for_blocks_without_any(self) -> None:
        none = pa.nulls(5, DELETION_VECTOR)

        assert dv_ids(none).to_pylist() == [None] * 5
        assert dv_ids(none) is dv_ids(pa.nulls(5, DELETION_VECTOR))
