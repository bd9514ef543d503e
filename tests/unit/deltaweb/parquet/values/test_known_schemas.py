"""Schemas of files of one writer are parsed once, and those of others never taken."""

import io

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from deltaweb.parquet.errors import SchemaCorruptError
from deltaweb.parquet.values.dictionaries import StoredChunks
from deltaweb.parquet.values.known_schemas import (
    MAX_KNOWN,
    KnownSchemas,
    known_schemas,
)
from deltaweb.parquet.values.verdicts import check_schema
from tests.support.files.changed_schemas import elements_of, with_schema

ROWS = pa.table({"n": range(24), "s": [{"a": i, "l": [i]} for i in range(24)]})


def file_of(rows: pa.Table, **options: object) -> bytes:
    sink = io.BytesIO()
    pq.write_table(rows, sink, **options)
    return sink.getvalue()


def footer_of(data: bytes) -> bytes:
    return data[-8 - int.from_bytes(data[-8:-4], "little") : -8]


def test_footers_with_one_schema_share_it() -> None:
    known = KnownSchemas()

    first = known.of(footer_of(file_of(ROWS)))

    assert known.of(footer_of(file_of(ROWS.slice(5)))) is first
    assert [leaf.path for leaf in first.leaves()] == [
        ("n",),
        ("s", "a"),
        ("s", "l", "list", "element"),
    ]


def test_a_schema_that_differs_in_one_fact_is_another() -> None:
    data, known = file_of(ROWS), KnownSchemas()
    elements = elements_of(data)
    known.of(footer_of(with_schema(data, elements)))

    for number, one in enumerate(elements[1:], 1):
        changed = [*elements]
        changed[number] = one._replace(repetition="UNKNOWN(3)")
        found = known.of(footer_of(with_schema(data, changed)))
        repetitions = [node.element.repetition for node in found.walk()]
        assert repetitions.count("UNKNOWN(3)") == 1


def test_only_the_last_schemas_are_kept() -> None:
    known = KnownSchemas()
    footers = [
        footer_of(file_of(pa.table({f"c{n}": [1]}))) for n in range(MAX_KNOWN + 1)
    ]
    roots = [known.of(footer) for footer in footers]

    assert known.of(footers[-1]) is roots[-1]
    assert known.of(footers[0]) is not roots[0]


def test_row_groups_with_the_paths_of_the_schema_are_counted() -> None:
    data = file_of(ROWS, row_group_size=10)
    paths = [("n",), ("s", "a"), ("s", "l", "list", "other")]

    assert StoredChunks(footer_of(data)).usual_counts == [[10] * 3, [10] * 3, [4] * 3]
    changed = with_schema(data, elements_of(data), paths=paths)
    assert StoredChunks(footer_of(changed)).usual_counts == []


def test_a_schema_is_sound_if_all_of_its_columns_are() -> None:
    data = file_of(ROWS)
    sound = StoredChunks(footer_of(data)).root
    changed = [
        one._replace(converted_type="UTF8") if one.name == "n" else one
        for one in elements_of(data)
    ]
    unsound = StoredChunks(footer_of(with_schema(data, changed))).root

    for root in (sound, unsound):
        check_schema(root, {"s"})

    assert known_schemas().is_sound(sound)
    assert not known_schemas().is_sound(unsound)
    with pytest.raises(SchemaCorruptError, match="column n: STRING"):
        check_schema(unsound, {"n"})
