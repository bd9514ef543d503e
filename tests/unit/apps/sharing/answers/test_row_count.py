"""The rows of the files of an answer."""

import pyarrow as pa

from apps.sharing.answers.row_count import RowCount
from deltaweb.delta.log.file_actions import DELETION_VECTOR, VECTOR
from deltaweb.sharing.parameters import MAX_LONG
from tests.support import cases


def listed(numbers: list[int | None], deleted: list[int | None]) -> pa.RecordBatch:
    fields = dict.fromkeys(field.name for field in DELETION_VECTOR)
    vectors = [
        None if rows is None else fields | {"cardinality": rows} for rows in deleted
    ]
    return pa.record_batch(
        {
            "num_records": pa.array(numbers, pa.int64()),
            VECTOR: pa.array(vectors, DELETION_VECTOR),
        }
    )


@cases(
    "batches, expected",
    {
        "nothing": ([], 0),
        "files": ([([5, 7], [None, None]), ([1], [None])], 13),
        "deleted rows": ([([5, 7], [None, 3])], 9),
        "one says nothing": ([([5], [None]), ([None], [None])], None),
        "absurd counts": ([([MAX_LONG, 9], [None, None])], MAX_LONG),
    },
)
def test_rows_that_are_not_deleted_count(batches, expected: int | None) -> None:
    counted = RowCount()
    for batch in batches:
        counted.add(listed(*batch))

    assert counted.total == expected
