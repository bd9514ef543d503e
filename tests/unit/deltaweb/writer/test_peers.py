"""What `deltalake` writes we read and go on with, step by step; and it ours."""

from collections.abc import Callable
from pathlib import Path

import deltalake
import polars as pl
import pyarrow as pa
import pyarrow.compute as pc
import pytest
from deltalake import DeltaTable as PeerTable

from deltaweb.delta.protocol.schema import StructType
from deltaweb.delta.protocol.schema_ddl import parse_columns_ddl
from deltaweb.delta.writing.errors import ConstraintViolatedError
from deltaweb.table import DeltaTable

pytestmark = pytest.mark.slow
SCHEMA = pa.schema([("id", pa.int64()), ("n", pa.int64()), ("p", pa.string())])
MATCH = "t.id = s.id"


def rows(*ids: int, n: int = 0, p: str = "a b") -> pa.Table:
    return pa.table(
        {"id": ids, "n": [n] * len(ids), "p": [p] * len(ids)}, schema=SCHEMA
    )


def as_tuples(table: pa.Table) -> list[tuple[object, ...]]:
    return sorted(
        tuple(row[name] for name in SCHEMA.names) for row in table.to_pylist()
    )


def merge_theirs(location: str) -> None:
    merge = PeerTable(location).merge(
        rows(2, 9, n=7), MATCH, source_alias="s", target_alias="t"
    )
    merge.when_matched_update_all().when_not_matched_insert_all().execute()


THEIRS: dict[str, Callable[[str], object]] = {
    "append": lambda at: deltalake.write_deltalake(at, rows(5, p="é/%"), mode="append"),
    "delete": lambda at: PeerTable(at).delete("id = 3"),
    "update": lambda at: PeerTable(at).update({"n": "n + 1"}, predicate="id > 1"),
    "merge": merge_theirs,
    "optimize": lambda at: PeerTable(at).optimize.compact(),
    "restore": lambda at: PeerTable(at).restore(1),
    "constraint": lambda at: PeerTable(at).alter.add_constraint({"low": "n < 50"}),
    "overwrite": lambda at: deltalake.write_deltalake(at, rows(1, 2), mode="overwrite"),
}


def merge_ours(table: DeltaTable) -> None:
    merge = table.merge(rows(2, 9, n=7), on=MATCH)
    merge.when_matched_update().when_not_matched_insert().execute()


OURS: dict[str, Callable[[DeltaTable], object]] = {
    "append": lambda table: table.append(rows(5, p="é/%"), txn=("app", 4)),
    "delete": lambda table: table.delete("id = 3"),
    "update": lambda table: table.update({"n": "n + 1"}, where="id > 1"),
    "merge": merge_ours,
    "optimize": lambda table: table.optimize(),
    "restore": lambda table: table.restore(1),
    "upgrade": lambda table: table.upgrade_protocol(writer=3),
    "constraint": lambda table: table.add_constraint("low", "n < 50"),
    "overwrite": lambda table: table.overwrite(rows(1, 2)),
}


def assert_same(location: str) -> None:
    """Hold both readers' rows, partition values and bounds against each other."""
    snapshot, peer = DeltaTable(location).snapshot(), PeerTable(location)
    assert snapshot.version == peer.version()
    assert as_tuples(snapshot.read()) == as_tuples(peer.to_pyarrow_table())
    theirs = pa.table(peer.get_add_actions(flatten=True))
    names = ["num_records", "min.id", "max.id", "null_count.id", "partition.p"]
    told = zip(*(theirs[name].to_pylist() for name in names), strict=True)
    ours = snapshot.statistics([("id",)])
    parts = [
        ours["num_records"].to_pylist(),
        *(
            pc.struct_field(ours[name], "id").to_pylist()
            for name in ("min", "max", "null_count")
        ),
        [
            dict(values)["p"]
            for values in snapshot.files["partition_values"].to_pylist()
        ],
    ]
    assert sorted(zip(*parts, strict=True)) == sorted(told)


def test_each_step_of_theirs_is_read_and_gone_on_with(tmp_path: Path) -> None:
    location = str(tmp_path / "t")
    deltalake.write_deltalake(location, rows(1, 2, 3), partition_by=["p"])
    deltalake.write_deltalake(location, rows(4, p="x=y"), mode="append")

    for number, write in enumerate(THEIRS.values()):
        write(location)
        assert_same(location)
        DeltaTable(location).append(rows(100 + number))
        assert_same(location)

    with pytest.raises(ConstraintViolatedError):
        DeltaTable(location).append(rows(7, n=50))


def test_each_step_of_ours_is_read_and_gone_on_with(tmp_path: Path) -> None:
    location = str(tmp_path / "t")
    table = DeltaTable.create(location, SCHEMA, partition_by=["p"])
    table.append(rows(1, 2, 3))
    table.append(rows(4, p="x=y"))

    for number, write in enumerate(OURS.values()):
        write(table)
        assert_same(location)
        deltalake.write_deltalake(location, rows(100 + number), mode="append")
        assert_same(location)

    assert PeerTable(location).transaction_version("app") == 4
    with pytest.raises(deltalake.exceptions.DeltaError):
        deltalake.write_deltalake(location, rows(7, n=50), mode="append")


def test_peers_read_the_numbers_of_rows(tmp_path: Path) -> None:
    location = str(tmp_path / "numbered")
    columns = "id BIGINT GENERATED ALWAYS AS IDENTITY (START WITH 10), n BIGINT"
    table = DeltaTable.create(location, StructType(parse_columns_ddl(columns)))

    for n in (1, 2, 3):
        table.append(pa.table({"n": [n]}))

    wanted = [{"id": 9 + n, "n": n} for n in (1, 2, 3)]
    peer = PeerTable(location)
    assert peer.to_pyarrow_table().sort_by("n").to_pylist() == wanted
    assert [field.name for field in peer.schema().fields] == ["id", "n"]
    assert pl.read_delta(location).sort("n").to_dicts() == wanted
    assert table.snapshot().read().sort_by("n").to_pylist() == wanted
