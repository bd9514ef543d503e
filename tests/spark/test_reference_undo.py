"""The reference implementation reads an undone table and its change data feed."""

from collections import Counter
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from deltaweb.table import DeltaTable
from tests.support.peers.reference_implementation import Reference

pytestmark = pytest.mark.exhaustive  # as the files beside
FEED = {"delta.enableChangeDataFeed": "true"}
SCHEMA = pa.schema([("n", pa.int64()), ("s", pa.string()), ("p", pa.string())])
FED = (
    "SELECT n, s, p, _change_type, _commit_version"
    " FROM table_changes_by_path('{folder}', 6, 8)"
)


def rows(*numbers: int) -> pa.Table:
    found = [(n, f"s{n}", "xy"[n % 2]) for n in numbers]
    columns = zip(SCHEMA.names, zip(*found, strict=True), strict=True)
    return pa.table({name: list(one) for name, one in columns}, SCHEMA)


@pytest.mark.parametrize("vectors", ["true", "false"])
def test_it_reads_an_undone_table_and_its_change_feed(
    reference: Reference, tmp_path: Path, vectors: str
) -> None:
    folder = tmp_path / "table"
    table = DeltaTable.create(
        str(folder),
        SCHEMA,
        partition_by=["p"],
        properties={**FEED, "delta.enableDeletionVectors": vectors},
    )
    table.append(rows(*range(8)))
    table.append(rows(20, 21))
    table.update({"s": "'new'"}, "n IN (0, 5)")
    table.append(rows(30))
    table.append(rows(40))

    table.undo(3)  # an update that later appends follow
    table.undo(2)  # an append
    table.undo(7)  # the undo of that append

    expected = [*range(8), 20, 21, 30, 40]
    read = reference.sql("SELECT n, s FROM {t}", folder)
    assert sorted(map(tuple, read)) == [(n, f"s{n}") for n in expected]
    assert reference.live_files(folder) == sorted(
        table.snapshot().files["path"].to_pylist()
    )
    fed = reference.sql(FED.replace("{folder}", str(folder)), folder)
    assert Counter(map(tuple, fed)) == _told(table)
    assert Counter((kind, version) for *_, kind, version in fed) == {
        ("update_preimage", 6): 2,
        ("update_postimage", 6): 2,
        ("delete", 7): 2,
        ("insert", 8): 2,
    }


def _told(table: DeltaTable) -> Counter[tuple[Any, ...]]:
    names = ("n", "s", "p", "_change_type", "_commit_version")
    told = table.changes(6, 8).read_all().to_pylist()
    return Counter(tuple(row[name] for name in names) for row in told)


def test_it_goes_on_from_an_undone_table(reference: Reference, tmp_path: Path) -> None:
    folder = tmp_path / "table"
    table = DeltaTable.create(str(folder), SCHEMA, properties=FEED)
    table.append(rows(1, 2))
    table.append(rows(3))
    table.undo(1)

    reference.sql("DELETE FROM {t} WHERE n = 3", folder)
    reference.sql("INSERT INTO {t} VALUES (9, 's9', 'x')", folder)

    assert table.snapshot().read()["n"].to_pylist() == [9]
    assert table.plan_undo(2).refusal is not None  # theirs removed its file
