"""Tables that others and we have made, through checkpoints of ours and of others."""

import shutil
from datetime import UTC, date, datetime
from decimal import Decimal
from itertools import product
from pathlib import Path

import deltalake
import pyarrow as pa
import pytest

from deltaweb.table import DeltaTable
from tests.support import matrix
from tests.support.peers.checkpoint_peers import (
    checkpoint_alone,
    checkpoints_at,
    delete_all_but,
    files_and_rows,
    polars_rows,
    rows,
    said,
)

PARTS = (None, 4)
AS_STRUCT = {
    "delta.checkpoint.writeStatsAsStruct": "true",
    "delta.checkpoint.writeStatsAsJson": "false",
}
SAMPLES = ["customers", "device_readings", "orders", "returns"]
PROPERTIES: tuple[dict[str, str], ...] = ({}, AS_STRUCT)


def peer_table(folder: Path, configuration: dict[str, str]) -> Path:
    """A table of many types with appends, deletions and an overwrite, by deltalake."""
    for number in range(6):
        deltalake.write_deltalake(
            str(folder),
            _peer_rows(number),
            mode="append",
            partition_by=["place", "day"],
            configuration=configuration if number == 0 else None,
        )
    table = deltalake.DeltaTable(str(folder))
    table.delete("id % 7 = 3")
    table.update(updates={"text": "'changed'"}, predicate="id = 11")
    return folder


def _peer_rows(number: int) -> pa.Table:
    ids = range(number * 10, number * 10 + 10)
    moment = datetime(2024, 2, 29, 23, 59, 59, 123456, tzinfo=UTC)
    places = ["a b", "ü/%", "x=y", None, "+"]
    return pa.table(
        {
            "id": pa.array(ids, pa.int64()),
            "text": pa.array([f"t\u2028{n}" if n % 3 else None for n in ids]),
            "price": pa.array([Decimal(n) / 8 for n in ids], pa.decimal128(12, 3)),
            "at": pa.array([moment.replace(second=n % 60) for n in ids]),
            "ok": pa.array([n % 2 == 0 for n in ids]),
            "nested": pa.array([{"n": n, "list": [n, None]} for n in ids]),
            "place": pa.array([places[n % 5] for n in ids]),
            "day": pa.array([date(2024, 1, 1 + n % 2) for n in ids]),
        }
    )


@matrix("configuration, parts", product(PROPERTIES, PARTS))
def test_a_table_of_a_peer_is_the_same_through_our_checkpoint(
    tmp_path: Path, configuration: dict[str, str], parts: int | None
) -> None:
    folder = peer_table(tmp_path / "table", configuration)

    _check_same(folder, parts)


@matrix("name, parts", product(SAMPLES, PARTS))
def test_a_table_of_ours_is_the_same_through_our_checkpoint(
    lake: Path, tmp_path: Path, name: str, parts: int | None
) -> None:
    (original,) = (path.parent for path in lake.rglob(f"{name}/_delta_log"))
    folder = tmp_path / "table"
    shutil.copytree(original, folder)

    _check_same(folder, parts)


@pytest.mark.parametrize("configuration", PROPERTIES, ids=["JSON", "typed"])
def test_a_table_is_the_same_through_checkpoints_of_both_in_turn(
    tmp_path: Path, configuration: dict[str, str]
) -> None:
    folder = peer_table(tmp_path / "table", configuration)
    expected = files_and_rows(folder)

    for number in range(4):
        if number % 2:
            deltalake.DeltaTable(str(folder)).create_checkpoint()
        else:
            DeltaTable(str(folder)).create_checkpoint(parts=1 + number)
        newest = DeltaTable(str(folder)).latest_version()
        delete_all_but(folder, newest, checkpoints_at(folder, newest))
        assert files_and_rows(folder) == expected


def test_a_peer_goes_on_after_our_checkpoint_and_our_clean_up(tmp_path: Path) -> None:
    folder = peer_table(tmp_path / "table", {})
    checkpoint_alone(folder, 3)

    deltalake.write_deltalake(str(folder), _peer_rows(9), mode="append")
    deltalake.DeltaTable(str(folder)).optimize.compact()

    after = deltalake.DeltaTable(str(folder))
    snapshot = DeltaTable(str(folder)).snapshot()
    assert snapshot.version == after.version()
    assert snapshot.num_files == len(after.file_uris())
    assert snapshot.read().num_rows == after.to_pyarrow_table().num_rows


def _check_same(folder: Path, parts: int | None) -> None:
    before = DeltaTable(str(folder)).snapshot()
    told, found = said(before), rows(before)
    peers = [files_and_rows(folder), polars_rows(folder)]
    assert not any(isinstance(peer, str) for peer in peers)

    checkpoint_alone(folder, parts)

    after = DeltaTable(str(folder)).snapshot()
    del told["statistics"]
    assert {part: said(after)[part] for part in told} == told
    assert rows(after) == found
    assert [files_and_rows(folder), polars_rows(folder)] == peers
