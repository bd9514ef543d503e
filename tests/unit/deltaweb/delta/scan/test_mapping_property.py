"""Random histories of renamed, dropped and added columns, beside plain dictionaries."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import pyarrow as pa
from hypothesis import given, settings
from hypothesis import strategies as st

from deltaweb.delta.changes import diff_schemas
from deltaweb.delta.scan.predicate import Comparison
from tests.support.conditions.drawn_examples import examples
from tests.support.tables.mapped_tables import MappedTable, with_id
from tests.support.tables.mapped_tables import field as column

NAMES = ("a", "b", "c", "A1")
STEPS = st.one_of(
    st.tuples(st.just("add"), st.sampled_from(NAMES)),
    st.tuples(st.just("drop"), st.sampled_from(NAMES)),
    st.tuples(st.just("rename"), st.sampled_from(NAMES), st.sampled_from(NAMES)),
    st.tuples(st.just("write"), st.lists(st.integers(0, 3), max_size=3)),
)


@dataclass
class Model:
    """What a table is: names of columns by id, and rows by id.

    The first name of a column is what files call it, unless one before it had that.
    """

    mode: str
    names: dict[int, str] = field(default_factory=lambda: {1: "key"})
    rows: list[dict[int, int]] = field(default_factory=list)
    last: int = 1

    def fields(self) -> list[dict[str, Any]]:
        return [
            column(name, "long", number, f"col-{number}")
            for number, name in self.names.items()
        ]

    def apply(self, step: tuple[Any, ...]) -> bool:
        """Take a step; tell whether the schema is another one now."""
        ids = {name: number for number, name in self.names.items()}
        match step:
            case ("add", name) if name not in ids:
                self.last += 1
                self.names[self.last] = name
            case ("drop", name) if name in ids:
                del self.names[ids[name]]
            case ("rename", old, new) if old in ids and new not in ids:
                self.names[ids[old]] = new
            case _:
                return False
        return True

    def write(self, values: list[int]) -> pa.Table:
        """Take new rows of all columns; return them as a file has them."""
        rows = [dict.fromkeys(self.names, value) for value in values]
        self.rows += rows
        return pa.table(
            [[row[number] for row in rows] for number in self.names],
            schema=pa.schema(
                [
                    with_id(self.stored(number), pa.int64(), number)
                    for number in self.names
                ]
            ),
        )

    def stored(self, number: int) -> str:
        """By id, files may call a column anything."""
        return f"col-{number}" if self.mode == "name" else f"col-{number + 1}"

    def read(self) -> list[Mapping[str, int | None]]:
        return [
            {name: row.get(number) for number, name in self.names.items()}
            for row in self.rows
        ]


def ordered(rows: list[Mapping[str, Any]]) -> list[str]:
    return sorted(repr(sorted(row.items())) for row in rows)


@settings(max_examples=examples(30))
@given(st.sampled_from(["name", "id"]), st.lists(STEPS, max_size=10))
def test_every_version_reads_as_the_history_says(mode, steps):
    model = Model(mode)
    written = MappedTable(*model.fields(), mode=mode)
    said = [(dict(model.names), model.read())]
    for number, step in enumerate(steps):
        if step[0] == "write":
            written.add(f"{number}.parquet", model.write(step[1]))
        elif model.apply(step):
            written.evolve(*model.fields())
        else:
            continue
        said.append((dict(model.names), model.read()))

    table, before = written.table, None
    for version, (names, expected) in enumerate(said):
        snapshot = table.snapshot(version)
        assert ordered(snapshot.read().to_pylist()) == ordered(expected)
        for name in names.values():
            found = snapshot.read([name], Comparison((name,), ">", pa.scalar(1)))
            wanted = [row[name] for row in expected if (row[name] or 0) > 1]
            assert sorted(found[name].to_pylist()) == sorted(filter(None, wanted))
        if before is not None:
            changes = diff_schemas(before[0].schema, snapshot.schema)
            old = before[1]
            assert {c.name for c in changes.added} == _values(names, old)
            assert {c.name for c in changes.removed} == _values(old, names)
            assert {(c.old_name, c.name) for c in changes.changed} == {
                (old[key], names[key])
                for key in old.keys() & names.keys()
                if old[key] != names[key]
            }
        before = (snapshot, names)


def _values(names: Mapping[int, str], others: Mapping[int, str]) -> set[str]:
    return {name for number, name in names.items() if number not in others}
