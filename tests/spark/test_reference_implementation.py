"""The reference implementation reads what we built, and we what it built.

Every test works on tables of its own in the one process of the reference; that is
another session than the one of the other tests.
"""

import shutil
from collections import Counter
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from deltaweb.table import DeltaTable
from tests.support import cases
from tests.support.peers.checkpoint_peers import checkpoint_alone, checkpoints_at
from tests.support.peers.reference_implementation import Reference

pytestmark = pytest.mark.exhaustive  # every run has test_reference_in_turn
LATE = datetime(2999, 1, 1, tzinfo=UTC)
COLUMNS = "id BIGINT, name STRING, price DECIMAL(12,3), at TIMESTAMP, day DATE"
VALUES = (
    "SELECT id, CASE WHEN id % 3 = 0 THEN NULL ELSE concat('ü ', id) END,"
    " CAST(id / 8 AS DECIMAL(12,3)), timestamp_micros(1700000000123456 + id),"
    " CASE WHEN id % 5 = 0 THEN NULL"
    " ELSE date_add(DATE'2024-02-28', CAST(id % 4 AS INT)) END"
)
CHANGES = [
    "DELETE FROM {t} WHERE id % 7 = 3",
    "UPDATE {t} SET name = 'changed' WHERE id = 11",
    (
        "MERGE INTO {t} AS t USING (SELECT explode(sequence(25, 34)) AS id) AS s"
        " ON t.id = s.id WHEN MATCHED THEN DELETE"
        " WHEN NOT MATCHED THEN INSERT (id) VALUES (s.id)"
    ),
    "OPTIMIZE {t}",
]
READ = (
    "SELECT id, name, CAST(price AS STRING), unix_micros(at), CAST(day AS STRING) FROM"
)
EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
OF_TODAY = {
    "delta.columnMapping.mode": "name",
    "delta.enableDeletionVectors": "true",
    "delta.enableChangeDataFeed": "true",
    "delta.enableInCommitTimestamps": "true",
    "delta.checkpointPolicy": "v2",
    "delta.checkpointInterval": "5",
}
FED = (
    "SELECT n, text, p, _change_type, _commit_version, unix_micros(_commit_timestamp)"
    " FROM table_changes_by_path('{folder}', 3, 5)"
)
Rows = Counter[tuple[Any, ...]]


def insert(reference: Reference, folder: Path, first: int, last: int) -> None:
    ids = f"FROM (SELECT explode(sequence({first}, {last})) AS id)"
    reference.sql(f"INSERT INTO {{t}} {VALUES} {ids}", folder)


def new_table(reference: Reference, folder: Path, **properties: object) -> Path:
    """A table of the reference with a checkpoint every other version."""
    texts = {"delta.checkpointInterval": "2", **properties}
    written = ", ".join(f"'{name}' = '{value}'" for name, value in texts.items())
    reference.sql(
        f"CREATE TABLE {{t}} ({COLUMNS}) USING delta"
        f" PARTITIONED BY (day) TBLPROPERTIES ({written})",
        folder,
    )
    insert(reference, folder, 0, 19)
    return folder


@pytest.fixture(scope="module")
def changed(reference: Reference, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A table of the reference with commits of all kinds, which no test changes."""
    folder = tmp_path_factory.mktemp("changed") / "table"
    new_table(reference, folder, **{"delta.checkpoint.writeStatsAsStruct": "true"})
    insert(reference, folder, 20, 29)
    for statement in CHANGES:
        reference.sql(statement, folder)
    return folder


def rows_there(reference: Reference, folder: Path) -> Rows:
    """What the reference reads, as values that compare."""
    return Counter(map(tuple, reference.sql(f"{READ} {{t}}", folder)))


def rows_of_versions(reference: Reference, folder: Path, versions: Sequence[int]):
    """What the reference reads at each version, by one job."""
    selects = [
        READ.replace("SELECT", f"SELECT {version},") + f" {{t}} VERSION AS OF {version}"
        for version in versions
    ]
    found: list[Rows] = [Counter() for _ in versions]
    for version, *row in reference.sql(" UNION ALL ".join(selects), folder):
        found[versions.index(version)][tuple(row)] += 1
    return found


def rows_here(folder: Path, version: int | None = None) -> Rows:
    """What we read, as values that compare."""
    rows = DeltaTable(str(folder)).snapshot(version).read().to_pylist()
    return Counter(
        (
            row["id"],
            row["name"],
            None if row["price"] is None else str(row["price"]),
            None if row["at"] is None else (row["at"] - EPOCH) // timedelta(0, 0, 1),
            None if row["day"] is None else row["day"].isoformat(),
        )
        for row in rows
    )


def files_here(folder: Path) -> list[str]:
    return sorted(DeltaTable(str(folder)).snapshot().files["path"].to_pylist())


@cases(
    "parts, is_struct, policy",
    {
        "one file, JSON": (None, "false", "classic"),
        "three parts, typed": (3, "true", "classic"),
        "a file named by a UUID": (None, "false", "v2"),
        "three sidecars, typed": (3, "true", "v2"),
    },
)
def test_it_reads_its_own_table_through_our_checkpoint_alone(
    reference: Reference, tmp_path: Path, parts: int | None, is_struct: str, policy: str
) -> None:
    typed = {
        "delta.checkpointPolicy": policy,
        "delta.checkpoint.writeStatsAsStruct": is_struct,
        "delta.checkpoint.writeStatsAsJson": "false" if is_struct == "true" else "true",
    }
    folder = new_table(reference, tmp_path / "table", **typed)
    before = rows_there(reference, folder)

    checkpoint_alone(folder, parts)

    assert reference.live_files(folder) == files_here(folder)
    assert rows_there(reference, folder) == before == rows_here(folder)
    skipped = "SELECT count(*) FROM {t} WHERE id >= 15"
    assert reference.sql(skipped, folder) == [[5]]


@pytest.mark.parametrize(("name", "parts"), [("customers", None), ("orders", 3)])
def test_it_reads_our_table_through_our_checkpoint_alone(
    reference: Reference, lake: Path, tmp_path: Path, name: str, parts: int | None
) -> None:
    (original,) = (path.parent for path in lake.rglob(f"{name}/_delta_log"))
    folder = tmp_path / "table"
    shutil.copytree(original, folder)
    digest = "SELECT count(*), bit_xor(xxhash64(*)) FROM {t}"
    before = reference.sql(digest, folder)

    checkpoint_alone(folder, parts)

    assert reference.live_files(folder) == files_here(folder)
    assert reference.sql(digest, folder) == before
    assert before[0][0] == DeltaTable(str(folder)).snapshot().read().num_rows > 0


def test_we_read_what_it_built_at_any_version(reference: Reference, changed: Path):
    newest = DeltaTable(str(changed)).latest_version()
    versions = range(0, newest + 1, 2)  # each change is in one of them at first

    here = [rows_here(changed, version) for version in versions]

    assert all(checkpoints_at(changed, version) for version in versions[1:])
    assert here == rows_of_versions(reference, changed, versions)
    assert files_here(changed) == reference.live_files(changed)


def test_it_goes_on_after_our_checkpoint_and_our_clean_up(reference, changed, tmp_path):
    folder = tmp_path / "table"
    shutil.copytree(changed, folder)
    before = rows_here(folder)
    table = DeltaTable(str(folder))

    written = table.create_checkpoint(parts=3)
    for name in checkpoints_at(folder, written.version):
        if name not in written.names:
            table.store.delete(name)  # its own
    cleaned = table.clean_up_log(now=LATE)

    assert cleaned.files
    assert reference.live_files(folder) == files_here(folder)
    assert rows_there(reference, folder) == before
    insert(reference, folder, 100, 104)
    reference.sql("DELETE FROM {t} WHERE id = 101", folder)
    newest = DeltaTable(str(folder)).latest_version()
    assert newest == written.version + 2
    assert any(checkpoints_at(folder, newest - later) for later in (0, 1))
    after = rows_here(folder)
    assert after.total() == before.total() + 4
    assert rows_there(reference, folder) == after
    assert reference.live_files(folder) == files_here(folder)


def test_it_reads_a_checkpoint_that_we_put_in_place_of_its_own(
    reference: Reference, changed: Path, tmp_path: Path
) -> None:
    folder = tmp_path / "table"
    shutil.copytree(changed, folder)
    (its_own,) = checkpoints_at(folder, DeltaTable(str(folder)).latest_version())
    checksum = folder / "_delta_log" / f".{its_own}.crc"
    assert checksum.exists()

    written = DeltaTable(str(folder)).create_checkpoint()

    assert written.names == (its_own,)
    assert not checksum.exists()
    assert reference.live_files(folder) == files_here(folder)
    assert rows_there(reference, folder) == rows_here(changed)


def test_it_reads_what_we_write_to_a_table_of_today_and_its_changes(
    reference: Reference, tmp_path: Path
) -> None:
    folder = tmp_path / "table"
    schema = pa.schema(
        [
            ("n", pa.int64()),
            ("s", pa.string()),
            ("p", pa.string()),
            ("one", pa.struct([("a", pa.int32())])),
            ("many", pa.list_(pa.struct([("b", pa.int32())]))),
        ]
    )
    table = DeltaTable.create(
        str(folder), schema, partition_by=["p"], properties=OF_TODAY
    )
    table.append(_some_rows(range(40)).cast(schema))
    table.rename_column("s", "text")
    table.rename_column("many.element.b", "c.d")
    table.delete("n % 5 = 1")
    table.update({"text": "concat(text, '!')", "p": "'w'"}, "n IN (2, 3)")
    source = pa.table({"n": [4, 5, 99], "text": ["four", "five", "new"]})
    (
        table.merge(source, on="t.n = s.n")
        .when_matched_delete("s.n = 4")
        .when_matched_update({"text": "s.text"})
        .when_not_matched_insert({"n": "s.n", "text": "s.text", "p": "'x'"})
        .execute()
    )
    table.add_columns("more BIGINT")
    table.append(pa.table({"n": [200], "p": ["y"], "more": [7]}))

    query = "SELECT n, text, p, one.a, get(many, 0).`c.d`, more FROM {t}"
    ours = table.snapshot().read().to_pylist()
    assert Counter(map(tuple, reference.sql(query, folder))) == Counter(
        (
            row["n"],
            row["text"],
            row["p"],
            (row["one"] or {}).get("a"),
            row["many"][0]["c.d"] if row["many"] else None,
            row["more"],
        )
        for row in ours
    )
    fed = FED.replace("{folder}", str(folder))
    told = table.changes(3, 5).read_all().to_pylist()
    assert Counter(map(tuple, reference.sql(fed, folder))) == Counter(
        (
            row["n"],
            row["text"],
            row["p"],
            row["_change_type"],
            row["_commit_version"],
            (row["_commit_timestamp"] - EPOCH) // timedelta(0, 0, 1),
        )
        for row in told
    )
    reference.live_files(folder)

    reference.sql("DELETE FROM {t} WHERE n < 10", folder)
    reference.sql("OPTIMIZE {t}", folder)
    left = sorted(row["n"] for row in ours if row["n"] >= 10)
    assert sorted(table.snapshot().read()["n"].to_pylist()) == left
    table.delete("n = 200")
    table.optimize()
    assert reference.sql("SELECT count(*), max(n) FROM {t}", folder) == [
        [len(left) - 1, 99]
    ]


def _some_rows(numbers: range) -> pa.Table:
    return pa.table(
        {
            "n": numbers,
            "s": [f"s{n}" for n in numbers],
            "p": ["xyz"[n % 3] if n % 7 else None for n in numbers],
            "one": [{"a": n} if n % 2 else None for n in numbers],
            "many": [[{"b": n}] * (n % 4) for n in numbers],
        }
    )
