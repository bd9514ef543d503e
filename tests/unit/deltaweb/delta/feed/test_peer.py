"""Changes of tables that deltalake wrote are those that it reads itself."""

from pathlib import Path

import deltalake
import pyarrow as pa
import pytest

from deltaweb.table import DeltaTable


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    folder = tmp_path / "a b"
    for number in range(3):
        deltalake.write_deltalake(
            str(folder),
            pa.table(
                {
                    "id": pa.array(range(number * 10, number * 10 + 10), pa.int64()),
                    "place": [f"p{n % 3}" for n in range(10)],
                }
            ),
            mode="append",
            partition_by=["place"],
            configuration={"delta.enableChangeDataFeed": "true"}
            if not number
            else None,
        )
    table = deltalake.DeltaTable(str(folder))
    table.update(updates={"id": "id + 100"}, predicate="id % 4 = 1")
    table.delete("id > 120")
    table.optimize.compact()
    table.delete()
    return folder


@pytest.mark.parametrize(("first", "last"), [(0, 6), (3, 4), (5, 6), (2, 2)])
def test_changes_are_those_of_a_peer(folder: Path, first: int, last: int) -> None:
    peer = deltalake.DeltaTable(str(folder)).load_cdf(first, last)
    columns = ["id", "place", "_change_type", "_commit_version"]

    found = DeltaTable(str(folder)).changes(first, last).read_all()

    expected = pa.table(peer.read_all()).select(columns).to_pylist()
    assert sorted(map(repr, found.select(columns).to_pylist())) == sorted(
        map(repr, expected)
    )
