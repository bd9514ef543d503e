"""Tables of today's writers are exact, aspect by aspect.

Of those that are only large, `-m exhaustive` reads the rows: what they say, and rows of
all other tables, are read in every run.
"""

import json
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import pytest

from deltaweb.delta.errors import (
    DataFileMissingError,
    DeltaError,
    TimestampNotFoundError,
)
from deltaweb.delta.feed import FeedOffError, FeedSchemaError
from tests.support.golden.canonical import content_sha256, lines
from tests.support.golden.golden_modern import (
    LARGE,
    NAMES,
    ModernTable,
    modern_table,
)
from tests.support.golden.golden_versions import check_version


def check_log(golden: ModernTable, _: Path) -> None:
    """Files, bytes, paths, protocol, metadata, schema, transactions, vectors."""
    assert golden.table.latest_version() == golden.expected["latest_version"]
    for version, said in golden.versions.items():
        if "error" in said:
            with pytest.raises(DeltaError):
                golden.snapshot(version)
            continue
        snapshot = golden.snapshot(version)
        assert snapshot.version == version
        check_version(snapshot, said, golden.expected["schemas"])
        num_vectors = len(vectors := snapshot.files["dv_id"]) - vectors.null_count
        assert num_vectors == said.get("dv_files", 0)


def check_rows(golden: ModernTable, _: Path) -> None:
    """The rows of every version, by their hash, and a count of them by statistics."""
    for version, said in golden.versions.items():
        if "error" in said:
            continue
        snapshot = golden.table.snapshot(version)
        if said.get("content_error") == "data-file-missing":
            with pytest.raises(DataFileMissingError):
                snapshot.read()
            continue
        rows = snapshot.read()
        rows.validate(full=True)
        assert rows.num_rows == said["rows"], version
        schema_string = golden.expected["schemas"][said["schema"]]
        assert _digest(schema_string, rows) == said["content_sha256"], version


def check_variants(golden: ModernTable, _: Path) -> None:
    """The text of the variants of the newest version, by the row's `id`."""
    ids, rows = _newest_rows(golden)
    for path, texts in golden.expected["variant_json"].items():
        column: pa.ChunkedArray = rows[path.split(".")[0]]
        for name in path.split(".")[1:]:
            column = pc.struct_field(column, name)
        found = dict(zip(ids, column.to_pylist(), strict=True))
        assert {key: found[key] for key in texts} == texts


def check_times(golden: ModernTable, tmp_path: Path) -> None:
    """Which version each recorded time means."""
    table = golden.dated_copy(tmp_path / "table")
    for said in golden.expected["timestamps"]:
        try:
            snapshot = table.snapshot_metadata(timestamp=said["timestamp"])
        except TimestampNotFoundError:
            assert said.get("error") or said.get("after_newest"), said
            continue
        assert "error" not in said, said
        assert snapshot.version == said["version"], said


def check_history(golden: ModernTable, tmp_path: Path) -> None:
    """Operation and time of every commit."""
    table = golden.dated_copy(tmp_path / "table")
    found = [
        (entry.version, entry.operation, int(entry.timestamp.timestamp() * 1_000 + 0.5))
        for entry in table.history()
    ]
    assert found == [
        (said["version"], said["operation"], said["spark_timestamp"])
        for said in golden.expected["history"]["entries"]
    ]


def check_changes(golden: ModernTable, _: Path) -> None:
    """The changes of every recorded range, whole and by their hash."""
    for said in golden.expected["changes"]:
        first, last = said["start"], said["end"]
        if "error" in said:
            with pytest.raises((FeedSchemaError, FeedOffError)):
                golden.table.changes(first, last)
            continue
        shown = said.get("from_range", (first, last))
        rows = golden.table.changes(*shown).read_all()
        rows = rows.filter(
            (pc.field("_commit_version") >= first)
            & (pc.field("_commit_version") <= last)
        )
        assert rows.num_rows == said["num_rows"], (first, last)
        columns = zip(said["columns"], said["types"], strict=True)
        fields = [*columns, ("_change_type", "string"), ("_commit_version", "long")]
        schema = {
            "type": "struct",
            "fields": [{"name": name, "type": kind} for name, kind in fields],
        }
        assert rows.column_names == [name for name, _ in fields] + ["_commit_timestamp"]
        assert _digest(json.dumps(schema), rows) == said["content_sha256"], said


CHECKS: Mapping[str, Callable[[ModernTable, Path], None]] = {
    "log": check_log,
    "rows": check_rows,
    "variants": check_variants,
    "times": check_times,
    "history": check_history,
    "changes": check_changes,
}
RECORDED_AS = {
    "variants": "variant_json",
    "times": "timestamps",
    "history": "history",
    "changes": "changes",
}


def _cases() -> Iterator[Any]:
    for name in NAMES:
        recorded = ModernTable(name).expected
        for aspect in CHECKS:
            if not recorded.get(RECORDED_AS.get(aspect, "versions")):
                continue
            is_long = name in LARGE and aspect == "rows"
            marks = [pytest.mark.exhaustive] if is_long else []
            yield pytest.param(name, aspect, id=f"{name}-{aspect}", marks=marks)


@pytest.mark.parametrize(("name", "aspect"), [*_cases()])
def test_a_table_is_as_its_writer_says(name, aspect, tmp_path):
    CHECKS[aspect](modern_table(name), tmp_path)


def _newest_rows(golden: ModernTable) -> tuple[list[str], pa.Table]:
    rows = golden.table.snapshot().read()
    return [str(number) for number in rows["id"].to_pylist()], rows


def _digest(schema_string: str, rows: pa.Table) -> str:
    return content_sha256(lines(schema_string, rows))
