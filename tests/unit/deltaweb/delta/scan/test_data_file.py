import io

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from deltaweb.delta.errors import DataFileError
from deltaweb.delta.protocol.schema import PrimitiveType, StructField, StructType
from deltaweb.delta.scan.data_file import DataFile
from deltaweb.delta.scan.predicate import Comparison
from tests.support import cases

SCHEMA = StructType((StructField("n", PrimitiveType("long")),))


class CountedFile(io.BytesIO):
    """A file of bytes that takes down how much is read of it."""

    def __init__(self, data: bytes) -> None:
        super().__init__(data)
        self.reads: list[int] = []

    def read(self, size: int | None = -1) -> bytes:
        data = super().read(size)
        self.reads.append(len(data))
        return data


def file_of(values: list[int]) -> bytes:
    sink = io.BytesIO()
    pq.write_table(pa.table({"n": values}), sink, row_group_size=1)
    return sink.getvalue()


def test_opening_and_choosing_row_groups_is_one_read() -> None:
    data = file_of([1, 2, 3])
    counted = CountedFile(data)
    above_one = Comparison(("n",), ">", pa.scalar(1))

    with DataFile("a", lambda _: pa.PythonFile(counted, mode="r")) as file:
        groups = file.row_groups(SCHEMA, above_one)

        assert groups == [1, 2]
        assert counted.reads == [len(data)]


@cases(
    "data, reason",
    {
        "another format": (b"a,b\n1,2\n3,4\n", "not a Parquet file"),
        "encrypted": (file_of([1])[:-4] + b"PARE", "encrypted"),
        "torn": (file_of([1])[:-5], "not a Parquet file"),
        "a huge footer": (file_of([1])[:-8] + b"\xff\xff\xff\x7fPAR1", "it says"),
    },
)
def test_what_is_no_parquet_file_is_named_with_its_reason(data: bytes, reason: str):
    with pytest.raises(DataFileError, match=f"a/b.*{reason}"):
        DataFile("a/b", lambda _: pa.BufferReader(data))
