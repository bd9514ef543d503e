"""Lines of few files and of many say the same, byte for byte."""

import pyarrow as pa
import pytest

from deltaweb.delta.writing import log_lines
from deltaweb.delta.writing.transaction import MARKED_FILES

VECTOR = {
    "storageType": "u",
    "pathOrInlineDv": 'ab"\\^-aqEH.-t@S}K{vb[*k^',
    "offset": 4,
    "sizeInBytes": 40,
    "cardinality": 6,
}
FILES = pa.Table.from_pylist(
    [
        {
            "path": path,
            "size": 2**40,
            "modification_time": 1_700_000_000_000,
            "partition_values": values,
            "stats": stats,
            "deletion_vector": vector,
        }
        for path, values, stats, vector in (
            ("a.parquet", [("p", "x"), ("q", None)], '{"numRecords":1}', None),
            ('%20"\\é\u2028', [("q", '"\n\x7f'), ("p", "")], None, VECTOR),
            (
                "c",
                None,
                '{"minValues":{"s":"\\u0000\\"ß"}}',
                {**VECTOR, "offset": None},
            ),
            ("d", [("p", "1"), ("p", "2"), ("other", "3")], "\t", None),
        )
    ],
    schema=MARKED_FILES,
)


def lines(kind: str) -> bytes:
    keys = ["p", "q"]
    if kind == "add":
        return b"".join(log_lines.add_lines(FILES, keys, data_change=True))
    removed = log_lines.remove_lines(FILES, keys, data_change=False, deletion_ms=5)
    return b"".join(removed)


@pytest.mark.parametrize("kind", ["add", "remove"])
def test_few_files_have_the_lines_that_many_have(kind, monkeypatch):
    of_few = lines(kind)

    monkeypatch.setattr(log_lines, "FEW_FILES", 0)

    assert of_few == lines(kind)
    assert of_few.count(b"\n") == FILES.num_rows
