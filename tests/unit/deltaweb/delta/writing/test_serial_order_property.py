"""Random histories of three writers: what is accepted equals some serial order.

Rows are pairs of x and a counter. Each writer reads a version and commits later; the
rows of the table at the end must be those of the accepted operations one after the
other, in some order.
"""

import itertools
from dataclasses import dataclass
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from deltaweb.delta.scan.predicate import And, Comparison
from deltaweb.delta.writing.commit import commit
from deltaweb.delta.writing.errors import CommitConflictError
from deltaweb.delta.writing.transaction import (
    ADDED_FILES,
    EVERYTHING_READ,
    NO_FILES,
    TableRead,
    Transaction,
)
from tests.support.conditions.drawn_examples import examples
from tests.support.stores.memory import MemoryTableStore
from tests.support.tables.written_tables import (
    AT_ONCE,
    METADATA,
    create,
    live,
    on_newest,
    stats,
)

Row = tuple[int, int]
COUNTED_AT = 20  # x of the row that holds a count


@dataclass(frozen=True)
class Operation:
    """What a writer does to the rows with x from `low` to `high`."""

    kind: str
    low: int
    high: int

    def matches(self, row: Row) -> bool:
        return self.low <= row[0] <= self.high

    def apply(self, rows: list[Row]) -> list[Row]:
        """Return the rows after it."""
        matching = [row for row in rows if self.matches(row)]
        match self.kind:
            case "append":
                return [*rows, (self.low, 0), (self.high, 0)]
            case "update":
                return [(x, n + 1) if self.matches((x, n)) else (x, n) for x, n in rows]
            case "delete":
                return [row for row in rows if not self.matches(row)]
            case "count":
                return [*rows, (COUNTED_AT, len(matching))]
            case "overwrite":
                return [(self.low, 0)]
            case _:
                return rows


class Table:
    """Files in memory whose rows are known beside."""

    def __init__(self, isolation: str) -> None:
        self.store = MemoryTableStore()
        self.rows: dict[str, list[Row]] = {}
        self._numbers = itertools.count()
        configuration = {"delta.isolationLevel": isolation}
        create(
            self.store,
            metadata=type(METADATA)(
                id="1",
                schema_string=METADATA.schema_string,
                configuration=configuration,
            ),
        )

    def write(self, rows: list[Row]) -> pa.Table:
        """Write rows as a file."""
        if not rows:
            return NO_FILES
        path = f"f{next(self._numbers)}"
        self.rows[path] = rows
        xs = [x for x, _ in rows]
        file = {
            "path": path,
            "size": 1,
            "modification_time": 0,
            "partition_values": [],
            "stats": stats(min(xs), max(xs), num_records=len(rows)),
        }
        return pa.Table.from_pylist([file], ADDED_FILES)

    def current(self) -> list[Row]:
        """The rows of the newest version."""
        return self.rows_of(live(self.store))

    def rows_of(self, files: pa.Table) -> list[Row]:
        """The rows of some files."""
        return [row for path in files["path"].to_pylist() for row in self.rows[path]]

    def append(self, rows: list[Row]) -> None:
        """Commit a file."""
        self.commit(on_newest(self.store, added=self.write(rows)))

    def commit(self, transaction: Transaction) -> bool:
        """Commit; tell whether it was accepted."""
        try:
            commit(self.store, transaction, policy=AT_ONCE)
        except CommitConflictError:
            return False
        return True

    def begin(self, operation: Operation) -> Transaction:
        """Read the newest version and prepare the operation."""
        files = live(self.store)
        is_touched = [
            any(map(operation.matches, self.rows[path]))
            for path in files["path"].to_pylist()
        ]
        touched = files.filter(pa.array(is_touched, pa.bool_()))
        old = self.rows_of(touched)
        predicate = And(
            tuple(
                Comparison(("x",), sign, pa.scalar(bound, pa.int64()))
                for sign, bound in ((">=", operation.low), ("<=", operation.high))
            )
        )
        read = TableRead(predicate=predicate, files=touched)
        fields: dict[str, Any]
        match operation.kind:
            case "append":
                fields = {"added": self.write(operation.apply([]))}
            case "overwrite":
                fields = {
                    "added": self.write(operation.apply([])),
                    "removed": files,
                    "read": EVERYTHING_READ,
                }
            case "count":
                fields = {"added": self.write([operation.apply(old)[-1]]), "read": read}
            case "optimize":
                fields = {
                    "added": self.write(old),
                    "removed": touched,
                    "read": TableRead(files=touched),
                    "data_change": False,
                }
            case _:
                fields = {
                    "added": self.write(operation.apply(old)),
                    "removed": touched,
                    "read": read,
                }
        return on_newest(self.store, operation=operation.kind, **fields)


KINDS = ["append", "update", "delete", "count", "optimize", "overwrite"]
operations = st.builds(
    lambda kind, bounds: Operation(kind, min(bounds), max(bounds)),
    st.sampled_from(KINDS),
    st.tuples(st.integers(0, 9), st.integers(0, 9)),
)
# Each writer begins at its first turn and commits at its second.
turns: st.SearchStrategy[list[int]] = st.permutations([0, 0, 1, 1, 2, 2])
files_at_first = st.lists(
    st.lists(st.tuples(st.integers(0, 9), st.just(0)), min_size=1, max_size=3),
    max_size=3,
)


def run(table: Table, writers: list[Operation], order: list[int]) -> list[Operation]:
    """Let the writers take their turns; return what was accepted."""
    begun: dict[int, Transaction] = {}
    accepted = []
    for writer in order:
        if writer not in begun:
            begun[writer] = table.begin(writers[writer])
            continue
        if table.commit(begun[writer]):
            accepted.append(writers[writer])
    return accepted


@pytest.mark.parametrize("isolation", ["WriteSerializable", "Serializable"])
@settings(max_examples=examples(60))
@given(
    first=files_at_first,
    writers=st.lists(operations, min_size=3, max_size=3),
    order=turns,
)
def test_accepted_histories_equal_a_serial_order(isolation, first, writers, order):
    table = Table(isolation)
    for rows in first:
        table.append(rows)
    before = table.current()

    accepted = run(table, writers, order)

    after = sorted(table.current())
    assert any(
        sorted(applied(before, history)) == after
        for history in itertools.permutations(accepted)
    )


def applied(rows: list[Row], history: tuple[Operation, ...]) -> list[Row]:
    for operation in history:
        rows = operation.apply(rows)
    return rows


def test_no_count_is_lost() -> None:
    table = Table("WriteSerializable")
    table.append([(1, 0)])
    increment = Operation("update", 0, 9)
    losses = 0

    for _ in range(10):
        ours = [table.begin(increment), table.begin(increment)]
        losses += len([one for one in ours if not table.commit(one)])

    assert losses == 10
    assert table.current() == [(1, 10)]
