"""Writers that race, die or want for something: no row is lost, none is there twice.

The sizes are small; DELTAWEB_RACES=full makes them those that were asked for once.
"""

import json
import os
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from deltaweb.table import DeltaTable
from tests.support.processes.killed_writers import SCHEMA, rows
from tests.support.processes.lean import run_lean

IS_FULL = os.environ.get("DELTAWEB_RACES") == "full"
OLD = [(1, 0), (2, 0), (3, 0), (4, 0)]
NEW = [(1, 1), (2, 1), (3, 0), (4, 0)]
LATER = datetime.now(UTC) + timedelta(days=8)
Row = tuple[int, int]


def rows_of(table: DeltaTable) -> list[Row]:
    found = table.snapshot().read()
    return sorted(zip(found["id"].to_pylist(), found["n"].to_pylist(), strict=True))


def data_files(folder: Path) -> set[str]:
    return {path.name for path in folder.glob("*.parquet")}


def test_a_writer_that_is_killed_at_any_step_leaves_the_old_or_the_new_version(
    tmp_path: Path,
) -> None:
    run_lean("killed_writers", "kill", tmp_path, 1 if IS_FULL else 4)

    copies = sorted(tmp_path.glob("[0-9]*"))
    versions = []
    for copy in copies:
        table = DeltaTable(str(copy))
        version = table.latest_version()
        versions.append(version)
        assert rows_of(table) == (OLD if version == 2 else NEW)
        table.vacuum(dry_run=False, now=LATER)
        live = {Path(path).name for path in table.snapshot().files["path"].to_pylist()}
        assert data_files(copy) == live
        assert table.append(rows(9)).version == version + 1
    assert versions == sorted(versions)
    assert set(versions) == {2, 3}


def test_a_writer_without_room_or_leave_leaves_the_table_as_it_was(tmp_path: Path):
    tmp_path.chmod(0o755)
    folders = [tmp_path / "no-room", tmp_path / "no-leave"]

    run_lean("killed_writers", "want", *folders)

    for folder in folders:
        table = DeltaTable(str(folder))
        assert (table.latest_version(), rows_of(table)) == (2, OLD)
        assert len(data_files(folder)) == 2


def test_no_count_is_lost(tmp_path: Path) -> None:
    processes, updates = (8, 50) if IS_FULL else (4, 3)
    table = DeltaTable.create(str(tmp_path / "t"), SCHEMA)
    table.append(rows(1))

    run_lean("killed_writers", "count", tmp_path / "t", processes, updates)

    assert rows_of(table) == [(1, processes * updates)]
    assert table.latest_version() == 1 + processes * updates


@pytest.mark.parametrize("isolation", ["WriteSerializable", "Serializable"])
def test_what_many_do_equals_a_serial_order(tmp_path: Path, isolation: str) -> None:
    """In the order of versions, but that rows may come after who did not see them."""
    location = str(tmp_path / "t")
    DeltaTable.create(
        location, SCHEMA, properties={"delta.isolationLevel": isolation}
    ).append(rows(*range(20)))

    run_lean(
        "killed_writers",
        "mix",
        location,
        8 if IS_FULL else 4,
        50 if IS_FULL else 5,
        tmp_path,
    )

    done = sorted(
        json.loads(line)
        for path in tmp_path.glob("*.jsonl")
        for line in path.read_text().splitlines()
    )
    table = DeltaTable(location)
    assert [version for version, *_ in done] == [*range(2, table.latest_version() + 1)]
    assert rows_of(table) == in_order(table, done)


def in_order(table: DeltaTable, done: list[list[object]]) -> list[Row]:
    """Return what the operations do to rows, one after the other."""
    kept: list[tuple[int, Row]] = [(1, (number, 0)) for number in range(20)]
    for version, kind, low, high, first in done:
        assert isinstance(version, int)
        assert isinstance(first, int)
        info = table.read_commit(version)[0]["commitInfo"]
        seen = int(info["readVersion"])

        def is_met(born: int, row: Row) -> bool:
            return born <= seen and int(str(low)) <= row[0] <= int(str(high))  # noqa: B023  # called at once

        if kind == "append":
            kept += [(version, (first, 0)), (version, (first + 1, 0))]
        elif kind == "delete":
            kept = [(born, row) for born, row in kept if not is_met(born, row)]
        elif kind == "update":
            kept = [
                (born, (row[0], row[1] + 1)) if is_met(born, row) else (born, row)
                for born, row in kept
            ]
    return sorted(row for _, row in kept)
