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
PROCESSES, UPDATES = (8, 50) if IS_FULL else (4, 3)
ISOLATIONS = ["WriteSerializable", "Serializable"]
OLD = [(1, 0), (2, 0), (3, 0), (4, 0)]
NEW = [(1, 1), (2, 1), (3, 0), (4, 0)]
LATER = datetime.now(UTC) + timedelta(days=8)
Row = tuple[int, int]


def rows_of(table: DeltaTable) -> list[Row]:
    found = table.snapshot().read()
    return sorted(zip(found["id"].to_pylist(), found["n"].to_pylist(), strict=True))


def data_files(folder: Path) -> set[str]:
    return {path.name for path in folder.glob("*.parquet")}


@pytest.fixture(scope="module")
def done(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """What writers have left that were killed, starved or raced, all by one process."""
    folder = tmp_path_factory.mktemp("writers")
    folder.chmod(0o755)
    for name in ("kill", "want", "count", *ISOLATIONS):
        (folder / name).mkdir()
    DeltaTable.create(str(folder / "count" / "t"), SCHEMA).append(rows(1))
    for isolation in ISOLATIONS:
        DeltaTable.create(
            str(folder / isolation / "t"),
            SCHEMA,
            properties={"delta.isolationLevel": isolation},
        ).append(rows(*range(20)))
    commands = [
        ("kill", folder / "kill", 1 if IS_FULL else 4),
        ("want", folder / "want" / "no-room", folder / "want" / "no-leave"),
        ("count", folder / "count" / "t", PROCESSES, UPDATES),
        *(
            ("mix", place / "t", PROCESSES, 50 if IS_FULL else 5, place)
            for place in (folder / isolation for isolation in ISOLATIONS)
        ),
    ]
    told = [[str(part) for part in command] for command in commands]
    run_lean("killed_writers", json.dumps(told))
    return folder


def test_a_writer_that_is_killed_at_any_step_leaves_the_old_or_the_new_version(
    done: Path,
) -> None:
    copies = sorted((done / "kill").glob("[0-9]*"))
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


def test_a_writer_without_room_or_leave_leaves_the_table_as_it_was(done: Path) -> None:
    for folder in (done / "want" / "no-room", done / "want" / "no-leave"):
        table = DeltaTable(str(folder))
        assert (table.latest_version(), rows_of(table)) == (2, OLD)
        assert len(data_files(folder)) == 2


def test_no_count_is_lost(done: Path) -> None:
    table = DeltaTable(str(done / "count" / "t"))

    assert rows_of(table) == [(1, PROCESSES * UPDATES)]
    assert table.latest_version() == 1 + PROCESSES * UPDATES


@pytest.mark.parametrize("isolation", ISOLATIONS)
def test_what_many_do_equals_a_serial_order(done: Path, isolation: str) -> None:
    """In the order of versions, but that rows may come after who did not see them."""
    made = sorted(
        json.loads(line)
        for path in (done / isolation).glob("*.jsonl")
        for line in path.read_text().splitlines()
    )
    table = DeltaTable(str(done / isolation / "t"))
    assert [version for version, *_ in made] == [*range(2, table.latest_version() + 1)]
    assert rows_of(table) == in_order(table, made)


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
