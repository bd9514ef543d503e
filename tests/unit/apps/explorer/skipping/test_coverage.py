"""The share of the log that the statistics of a column take."""

import json
from pathlib import Path

import pytest

from apps.explorer.skipping import coverage
from apps.explorer.skipping.coverage import ColumnCoverage, column_coverage
from deltaweb.index.folder.file_index import open_files
from tests.support.logs.delta_logs import add, metadata, protocol
from tests.support.logs.local_logs import LocalLog


def stats_text(low: dict[str, object], high: dict[str, object]) -> str:
    document = {
        "numRecords": 1,
        "minValues": low,
        "maxValues": high,
        "nullCount": dict.fromkeys(low, 0),
    }
    return json.dumps(document, separators=(",", ":"))


def covered(log: LocalLog) -> dict[str, ColumnCoverage]:
    files = open_files(log.index())
    columns = column_coverage(files, log.table.snapshot_metadata().schema, [])
    return {column.name: column for column in columns}


def test_bytes_are_those_of_its_bounds_and_counts(tmp_path: Path) -> None:
    text = stats_text({"id": 1, "name": "é" * 20}, {"id": 22, "name": "é" * 20})
    log = LocalLog(tmp_path).start(*(add(one, stats=text) for one in "abc"))

    columns = covered(log)

    # "id":1 and "id":22 and "id":0, each with a comma
    assert columns["id"].log_bytes == 3 * (7 + 8 + 7)
    assert columns["name"].log_bytes == 3 * (2 * (7 + 42 + 1) + 9)
    assert columns["price"].log_bytes == 0
    percent = 100 * (2 * 50 + 9) / len(text.encode())
    assert columns["name"].percent_of_statistics == pytest.approx(percent, abs=0.1)


def test_a_sample_is_scaled_up(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(coverage, "MAX_PARSED", 10)
    text = stats_text({"id": 1}, {"id": 2})
    log = LocalLog(tmp_path).start(*(add(f"f{i}", stats=text) for i in range(100)))

    assert covered(log)["id"].log_bytes == 100 * 21


@pytest.mark.parametrize("text", ["[]", '{"minValues": 3}', "[" * 9_000, "not JSON"])
def test_statistics_that_are_none_take_nothing(tmp_path: Path, text: str) -> None:
    log = LocalLog(tmp_path).start(add("a", stats=text))

    assert not covered(log)["id"].log_bytes


def test_columns_are_found_by_the_names_that_the_log_has(tmp_path: Path) -> None:
    field = {
        "name": "id",
        "type": "long",
        "nullable": True,
        "metadata": {
            "delta.columnMapping.id": 1,
            "delta.columnMapping.physicalName": "col-1",
        },
    }
    text = stats_text({"col-1": 1}, {"col-1": 2})
    mapped = metadata(
        schemaString=json.dumps({"type": "struct", "fields": [field]}),
        configuration={"delta.columnMapping.mode": "name"},
    )
    log = LocalLog(tmp_path).commit(0, protocol(2, 5), mapped, add("a", stats=text))

    assert covered(log)["id"].log_bytes == 3 * len('"col-1":1,')
