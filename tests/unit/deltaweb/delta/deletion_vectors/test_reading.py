"""The vector of a file, as it is stored, as it may be broken, and as it may lie."""

import struct
import uuid
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from deltaweb.delta.deletion_vectors.errors import (
    DeletionVectorError,
    DeletionVectorMissingError,
)
from deltaweb.delta.deletion_vectors.reading import read_deleted_rows
from deltaweb.delta.deletion_vectors.z85 import encode_z85
from deltaweb.delta.errors import PathEscapesTableError
from tests.support.logs.roaring_bitmaps import (
    bitmap_of,
    fields_of,
    inline_vector,
    vector_file,
)

NAME = uuid.UUID("d2c639aa-8816-431a-aaf6-d3fe2512ff61")
FILE = f"deletion_vector_{NAME}.bin"


class Folder:
    """A table's folder with a file of vectors."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.opened: list[str] = []

    def open_file(self, path: str) -> pa.NativeFile:
        self.opened.append(path)
        if ".." in path or path.startswith("/"):
            raise PathEscapesTableError(path=path)
        return pa.OSFile(str(self.folder / path))

    def rows(self, fields: dict[str, Any], num_rows: int = 100) -> list[int]:
        rows = read_deleted_rows(
            "a.parquet", fields_of(fields), num_rows, self.open_file
        )
        found: list[int] = np.concatenate([[], *rows.positions()]).astype(int).tolist()
        assert len(found) == len(rows)
        return found

    def refusal(self, fields: dict[str, Any], num_rows: int = 100) -> str:
        with pytest.raises(DeletionVectorError) as caught:
            self.rows(fields, num_rows)
        assert caught.value.path == "a.parquet"
        assert "a.parquet" in caught.value.message
        assert caught.value.hint
        return caught.value.reason


@pytest.fixture
def folder(tmp_path: Path) -> Folder:
    return Folder(tmp_path)


def stored(offset: int | None, size: int, rows: int) -> dict[str, Any]:
    return {
        "storageType": "u",
        "pathOrInlineDv": encode_z85(NAME.bytes),
        "offset": offset,
        "sizeInBytes": size,
        "cardinality": rows,
    }


def test_the_inline_vector_of_the_specification_is_read(folder: Folder) -> None:
    fields = {
        "storageType": "i",
        "pathOrInlineDv": "wi5b=000010000siXQKl0rr91000f55c8Xg0@@D72lkbi5=-{L",
        "sizeInBytes": 40,
        "cardinality": 6,
    }

    assert folder.rows(fields) == [3, 4, 7, 11, 18, 29]


def test_a_file_of_several_vectors_is_read_from_the_place_of_each(folder: Folder):
    some, others = bitmap_of([0, 99]), bitmap_of([5])
    data, offsets = vector_file(some, others)
    (folder.folder / FILE).write_bytes(data)

    assert folder.rows(stored(offsets[0], len(some), 2)) == [0, 99]
    assert folder.rows(stored(offsets[1], len(others), 1)) == [5]


def test_a_random_prefix_is_a_folder(folder: Folder) -> None:
    bitmap = bitmap_of([1])
    data, _ = vector_file(bitmap)
    (folder.folder / "ab").mkdir()
    (folder.folder / "ab" / FILE).write_bytes(data)
    fields = stored(1, len(bitmap), 1)

    fields["pathOrInlineDv"] = "ab^-aqEH.-t@S}K{vb[*k^"

    assert folder.rows(fields) == [1]
    assert folder.opened == [f"ab/{FILE}"]


def test_an_absolute_path_is_opened_as_the_log_has_it(folder: Folder) -> None:
    fields = stored(1, 40, 1)
    fields |= {"storageType": "p", "pathOrInlineDv": "s3://b/x%20y.bin"}

    with pytest.raises(DeletionVectorMissingError, match="gone from storage"):
        folder.rows(fields)

    assert folder.opened == ["s3://b/x%20y.bin"]


class TestHostileVectors:
    def test_a_file_that_is_gone_is_named_with_the_data_file(self, folder: Folder):
        with pytest.raises(DeletionVectorMissingError) as caught:
            folder.rows(stored(1, 40, 1))

        assert caught.value.code == "deletion-vector-missing"
        assert FILE in caught.value.message
        assert "a.parquet" in caught.value.message

    @pytest.mark.parametrize("path", ["/etc/passwd", "../x.bin", "file:///etc/passwd"])
    def test_a_path_outside_the_table_is_not_followed(self, folder: Folder, path: str):
        fields = stored(1, 40, 1) | {"storageType": "p", "pathOrInlineDv": path}
        if path.startswith("file:"):
            fields["pathOrInlineDv"] = "/.." + path

        assert "outside the table" in folder.refusal(fields)

    def test_a_prefix_does_not_leave_the_table(self, folder: Folder) -> None:
        fields = stored(1, 40, 1)
        fields["pathOrInlineDv"] = "../../" + fields["pathOrInlineDv"]

        assert "outside the table" in folder.refusal(fields)

    def test_another_checksum_is_found(self, folder: Folder) -> None:
        bitmap = bitmap_of([1])
        data, _ = vector_file(bitmap)
        (folder.folder / FILE).write_bytes(data[:-1] + bytes([data[-1] ^ 1]))

        assert "checksum" in folder.refusal(stored(1, len(bitmap), 1))

    def test_another_size_is_found(self, folder: Folder) -> None:
        bitmap = bitmap_of([1])
        data, _ = vector_file(bitmap)
        (folder.folder / FILE).write_bytes(data)

        refusal = folder.refusal(stored(1, len(bitmap) - 1, 1))

        assert "34 bytes, but the log says 33" in refusal

    @pytest.mark.parametrize("size", range(0, 43, 3))
    def test_a_file_that_ends_early_is_none(self, folder: Folder, size: int) -> None:
        bitmap = bitmap_of([1])
        data, _ = vector_file(bitmap)
        (folder.folder / FILE).write_bytes(data[: min(size, len(data) - 1)])

        assert folder.refusal(stored(1, len(bitmap), 1))

    def test_a_file_of_another_version_is_not_read(self, folder: Folder) -> None:
        (folder.folder / FILE).write_bytes(b"\2" + bytes(100))

        assert "version" in folder.refusal(stored(1, 34, 1))

    @pytest.mark.parametrize("size", [2**31 - 1, 2**62])
    def test_a_size_that_no_vector_has_takes_no_memory(self, folder: Folder, size: int):
        (folder.folder / FILE).write_bytes(b"\1" + bytes(100))

        assert "the limit" in folder.refusal(stored(1, size, 1))

    def test_a_count_that_is_another_one_is_found(self, folder: Folder) -> None:
        fields = inline_vector([1, 2]) | {"cardinality": 2**63 - 1}

        assert "2 rows, but the log says 9,223," in folder.refusal(fields)

    @pytest.mark.parametrize("position", [100, 2**16, 2**32 + 5, 2**40])
    def test_a_position_beyond_the_file_is_found(self, folder: Folder, position: int):
        reason = folder.refusal(inline_vector([3, position]))

        assert "of 100 rows" in reason

    def test_more_rows_than_the_file_has_are_not_expanded(self, folder: Folder) -> None:
        # A container of one run claims all of its 65,536 rows in six bytes.
        assert "of 100 rows" in folder.refusal(inline_vector(range(2**16), runs=[0]))

    @pytest.mark.parametrize(
        "change",
        [
            {"storageType": None},
            {"storageType": "x"},
            {"pathOrInlineDv": None},
            {"pathOrInlineDv": "abcd"},
            {"pathOrInlineDv": "\u20ac" * 40},
            {"pathOrInlineDv": "#" * 40},
            {"pathOrInlineDv": ""},
            {"sizeInBytes": None},
            {"sizeInBytes": -1},
            {"sizeInBytes": 3},
            {"sizeInBytes": 60},
            {"cardinality": None},
            {"cardinality": -1},
            {"offset": -5},
        ],
        ids=str,
    )
    def test_a_field_that_can_not_be_is_named(self, folder, change):
        assert folder.refusal(inline_vector([1, 2]) | change)

    @pytest.mark.parametrize("text", ["", "a", "#" * 20, "\u20ac" * 20])
    def test_a_name_that_does_not_read_is_refused(self, folder: Folder, text: str):
        assert folder.refusal(stored(1, 34, 1) | {"pathOrInlineDv": text})

    @pytest.mark.parametrize(
        ("spoil", "reason"),
        [
            (lambda data: struct.pack("<I", 7) + data[4:], "format, 7,"),
            (lambda data: data[:4] + struct.pack("<Q", 2**63) + data[12:], "bitmaps"),
            (lambda data: data[:12] + struct.pack("<I", 2**31) + data[16:], "keys"),
            (lambda data: data[:16] + struct.pack("<I", 9) + data[20:], "number 9"),
            (lambda data: data[:20] + struct.pack("<I", 2**31) + data[24:], "2,147"),
            (lambda data: data[:28] + struct.pack("<I", 99) + data[32:], "offsets"),
            (lambda data: data[:24] + struct.pack("<HH", 0, 9) + data[28:], "early"),
            (lambda data: data[:-2] + data[-4:-2], "one of its containers"),
            (lambda data: data + bytes(4), "end at byte"),
            (lambda data: data[:-4], "early"),
            (lambda data: data[:6], "early"),
        ],
    )
    def test_bytes_that_are_no_bitmap_say_why(self, folder, spoil, reason):
        data = spoil(bitmap_of([1, 2]))
        filled = encode_z85(data + bytes(-len(data) % 4))
        fields = inline_vector([1, 2])
        fields |= {"pathOrInlineDv": filled, "sizeInBytes": len(data)}

        assert reason in folder.refusal(fields)
