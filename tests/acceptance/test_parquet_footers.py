"""Every recorded Parquet file: its footer, its statistics, and what it is in Delta.

A record that is `partial` says less than a description does: what it says is compared.
"""

import json
import resource
import time
from collections.abc import Callable, Mapping
from typing import Any

import pyarrow as pa
import pytest

from deltaweb.parquet import describe, preview
from deltaweb.parquet.errors import ParquetError, ValuesUnreadableError
from deltaweb.parquet.values.reading import read_rows
from tests.support import matrix
from tests.support.golden.recorded import file_record, own_folder, parquet_files

COMPARED = (
    *("version", "created_by", "num_rows", "footer_length", "num_row_groups"),
    *("key_value_metadata_keys", "schema", "column_orders"),
)
DELTA = (
    *("delta_schema", "delta_schema_strict", "delta_error", "delta_error_columns"),
    *("delta_features_needed", "delta_needs_column_mapping"),
)
# What the record has by another reader's view: ENUM is text by the specification, and a
# file of two rows has two.
READ_OTHERWISE = {"dd_enum", "hm_no_columns"}
# The library that the record was made with loses the number of what it does not know.
NUMBERS = {"pt_unknown-logical-type": ("UNRECOGNIZED", "UNRECOGNIZED(2555)")}
OUTCOMES = {
    "error": {"error"},
    "schema_ok": {"footer"},
    "schema_ok_data_error": {"footer"},
    "error_or_ok": {"error", "footer"},
}


GOOD = {path.stem: path for path in parquet_files().values()}
BAD = parquet_files("bad")
WITH_ROWS = [
    name
    for name, path in GOOD.items()
    if "values" in file_record(path) and name not in READ_OTHERWISE
]


def _described(name: str) -> tuple[dict[str, Any], Mapping[str, Any]]:
    described = json.loads(json.dumps(describe(GOOD[name])))
    expected = file_record(GOOD[name])
    if name in NUMBERS:
        expected = json.loads(json.dumps(expected).replace(*NUMBERS[name]))
    return described, expected


def _without_judgements(columns: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Leave out why a verdict is one that readers differ in: it is only a remark."""
    for column in columns:
        if column["statistics"] is not None:
            column["statistics"].pop("soft", None)
    return columns


def test_every_file_of_our_own_is_a_case() -> None:
    own = own_folder() / "parquet"

    assert {path.stem for path in own.glob("*.parquet")} <= {*GOOD}
    assert len([*own.glob("*.parquet")]) >= 15
    assert len([*(own / "bad").iterdir()]) // 2 >= 8


def _recorded_part(described: Any, recorded: Any) -> Any:  # noqa: ANN401 (JSON of any type)
    """Leave of a description what a partial record has, too."""
    if isinstance(recorded, dict) and isinstance(described, dict):
        return {
            key: _recorded_part(described[key], value)
            for key, value in recorded.items()
        }
    if isinstance(recorded, list) and isinstance(described, list):
        pairs = zip(described, recorded, strict=False)
        rest = described[len(recorded) :]
        return [*(_recorded_part(*pair) for pair in pairs), *rest]
    return described


@pytest.mark.parametrize("name", GOOD)
def test_footer_row_groups_and_both_schemas_are_the_recorded_ones(name: str) -> None:
    described, expected = _described(name)
    if "partial" in expected:
        compared = expected.keys() - {"file", "partial", "values", "values_oracle"}
        assert {*COMPARED} - {"column_orders"} <= compared
        expected = {key: expected[key] for key in compared}
        assert _recorded_part(described, expected) == expected
        return
    listed = described["row_groups"][: len(expected["row_groups"])]

    for key in COMPARED:
        assert described[key] == expected[key]
    for key in DELTA:
        assert described.get(key) == expected.get(key)
    assert len(described["row_groups"]) == expected["num_row_groups"]
    for group, recorded in zip(listed, expected["row_groups"], strict=True):
        for columns in (group["columns"], recorded["columns"]):
            _without_judgements(columns)
        assert group == recorded


@pytest.mark.parametrize("name", WITH_ROWS)
def test_the_first_rows_are_the_recorded_ones(name: str) -> None:
    expected = file_record(GOOD[name])["values"]
    if name.endswith("corrupt-checksum"):  # the record is from a reader without a check
        with (
            pa.OSFile(str(GOOD[name])) as source,
            pytest.raises(ValuesUnreadableError, match="differ from its checksum"),
        ):
            read_rows(source, len(expected))
        return
    with pa.OSFile(str(GOOD[name])) as source:
        rows = json.loads(json.dumps(read_rows(source, len(expected))))

    assert len(rows) == len(expected)
    for row, recorded in zip(rows, expected, strict=True):
        # Some records name the variants alone, where a null is one of JSON.
        found = {column: _plain_null(row[column], name) for column in recorded}
        assert found == recorded


def _plain_null(value: object, name: str) -> object:
    is_peer = name.startswith("pt_variant")
    return None if is_peer and value == {"variant": None} else value


@pytest.mark.parametrize("name", BAD)
def test_a_bad_file_ends_as_recorded_within_its_bounds(name: str) -> None:
    expected = file_record(BAD[name])
    began_s = time.process_time()
    before_kb = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    footer = _outcome(lambda: json.dumps(describe(BAD[name])))

    assert footer in OUTCOMES[expected["expect"]]
    grown_kb = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before_kb
    assert grown_kb / 1024 <= expected["max_rss_growth_mb"]
    assert time.process_time() - began_s <= expected["max_seconds"]


def _fault_of(name: str) -> list[object]:
    said = file_record(BAD[name])
    return [(said["kind"], said["expect"])]


@matrix("name", BAD, by=_fault_of)
def test_rows_of_a_bad_file_are_an_error_or_rows(name: str) -> None:
    expected = file_record(BAD[name])

    rows = _outcome(lambda: preview(BAD[name], 5))

    assert rows == "error" or expected["expect"] in {"schema_ok", "error_or_ok"}


def _outcome(read: Callable[[], object]) -> str:
    try:
        read()
    except ParquetError:
        return "error"
    return "footer"
