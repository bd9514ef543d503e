"""Files that may hold matching rows are read once, and all of their rows are judged."""

import pyarrow as pa
import pytest

from deltaweb.delta.log.paths import commit_name
from deltaweb.table import DeltaTable
from deltaweb.writer import matching
from deltaweb.writer.files import data_files
from tests.support import cases
from tests.support.stores.counting_store import CountingStore
from tests.support.stores.memory import MemoryTableStore
from tests.support.tables.table_builder import TableBuilder, numbers

N = pa.schema([("n", pa.int64())])


class OpeningsStore(MemoryTableStore):
    """Files in memory, and the paths of those that were opened."""

    def __init__(self) -> None:
        super().__init__()
        self.opened: list[str] = []

    def open_data_file(self, path: str) -> pa.NativeFile:
        self.opened.append(path)
        return super().open_data_file(path)


@pytest.fixture
def store(monkeypatch: pytest.MonkeyPatch) -> OpeningsStore:
    """A table of a file of the numbers to nine, in row groups of two."""
    monkeypatch.setattr(data_files, "ROW_GROUP_ROWS", 2)
    store = OpeningsStore()
    TableBuilder(store).rows(pa.table({"n": range(10)}, N)).build()
    return store


@cases(
    "where, left",
    {
        "the first row": ("n % 10 = 0", [1, 2, 3, 4, 5, 6, 7, 8, 9]),
        "the last row": ("n % 10 = 9", [0, 1, 2, 3, 4, 5, 6, 7, 8]),
        "some row groups": ("n % 4 = 3", [0, 1, 2, 4, 5, 6, 8, 9]),
        "no row": ("n % 10 = 10", [*range(10)]),
    },
)
def test_a_file_is_opened_once(store: OpeningsStore, where: str, left: list[int]):
    table = DeltaTable.from_store(store)

    table.delete(where)

    assert len(store.opened) == 1
    assert numbers(table) == left


@pytest.mark.parametrize("where", ["n = 7", "n % 10 = 7", None])
def test_the_log_is_listed_once_and_its_hint_read_once(where: str | None) -> None:
    store = CountingStore()
    table = TableBuilder(store).rows(pa.table({"n": range(10)}, N)).build()
    table.create_checkpoint()
    store.forget()

    deleted = table.delete(where)

    assert deleted.version == 2
    assert store.listings == [commit_name(1).removesuffix(".json")]
    assert store.heads == ["_last_checkpoint"]


@pytest.mark.parametrize(
    ("where", "changed"), [pytest.param("n > 4", 5, id="some"), (None, 10)]
)
def test_without_a_condition_every_row_is_one_that_changes(store, where, changed):
    result = DeltaTable.from_store(store).update({"n": "n - 10"}, where)

    assert result.num_rows_updated == changed
    assert numbers(DeltaTable.from_store(store))[0] < 0


def test_a_file_with_much_before_its_first_match_is_read_again(store, monkeypatch):
    monkeypatch.setattr(matching, "MAX_KEPT_BYTES", 20)
    table = DeltaTable.from_store(store)

    result = table.delete("n % 10 = 7")

    assert len(store.opened) == 2
    assert result.num_rows_deleted == 1
    assert numbers(table) == [0, 1, 2, 3, 4, 5, 6, 8, 9]
