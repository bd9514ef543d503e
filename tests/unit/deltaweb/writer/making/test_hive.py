"""Folders that name the values of their files."""

import pytest

from deltaweb.delta.protocol.schema import type_text
from deltaweb.writer.making.hive import folder_values, inferred_type, is_hidden


@pytest.mark.parametrize(
    ("texts", "name"),
    [
        (["1", "-7", "0"], "int"),
        (["1", "2147483648"], "bigint"),
        (["01", "2"], "string"),
        (["99999999999999999999"], "string"),
        (["2026-01-31"], "date"),
        (["2026-02-31"], "string"),
        (["1", "x"], "string"),
        ([], "string"),
    ],
)
def test_the_narrowest_type_keeps_every_text(texts: list[str], name: str) -> None:
    assert type_text(inferred_type(texts)) == name


def test_escapes_are_decoded_once_and_the_null_folder_is_null() -> None:
    folder = "a=x%252Fy/plain/b=__HIVE_DEFAULT_PARTITION__/c=/=d"

    assert folder_values(folder) == {"a": "x%2Fy", "b": None, "c": None}


def test_hidden_files_are_those_that_spark_passes_over() -> None:
    hidden = ["_SUCCESS", ".x.crc", "a/_temporary/b.parquet", "a/.b/c"]

    assert all(map(is_hidden, hidden))
    assert not any(map(is_hidden, ["a.parquet", "_p=1/a.parquet"]))
