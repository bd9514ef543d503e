"""The tables that tests write to: the library makes each of them, commit by commit."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

import pyarrow as pa

from deltaweb.delta.log.store import TableStore
from deltaweb.delta.protocol.schema import StructType
from deltaweb.delta.protocol.schema_ddl import parse_columns_ddl
from deltaweb.table import DeltaTable
from deltaweb.writer.making.new_table import NewTable, create_table
from tests.support.stores.memory import MemoryTableStore

if TYPE_CHECKING:
    from apps.tables.models import Table

SCHEMA = pa.schema([("n", pa.int64()), ("s", pa.string()), ("p", pa.string())])
ROWS = pa.table({"n": [1, 2, 3], "s": ["a", "b", None], "p": ["x", "y", "x"]})


@dataclass(frozen=True)
class TableBuilder:
    """The definition of a table, and the changes that are made to it.

    Each method returns another builder. So one builder can be a constant, and each test
    builds a table of its own. A file or class of tests that has a constant TABLE gets
    such tables by the fixtures `table` (in memory) and `local_table` (in a folder).

    Args:
        place: The folder or store of the table; None for a new store in memory.
    """

    place: Path | TableStore | None = None
    _schema: pa.Schema | StructType | None = None
    _partition_by: tuple[str, ...] = ()
    _properties: tuple[tuple[str, str], ...] = ()
    _changes: tuple[Callable[[DeltaTable], object], ...] = ()

    def at(self, place: Path | TableStore) -> Self:
        """Put the table into a folder or a store."""
        return replace(self, place=place)

    def columns(self, schema: pa.Schema | StructType | str = "", **types: str) -> Self:
        """Set the columns by a schema, by DDL, or by name and type: `id="long"`.

        Without this they are those of the first rows, or of `SCHEMA`.
        """
        ddl = schema or ", ".join(f"`{name}` {kind}" for name, kind in types.items())
        if isinstance(ddl, str):
            return replace(self, _schema=StructType(parse_columns_ddl(ddl)))
        return replace(self, _schema=ddl)

    def partitioned_by(self, *columns: str) -> Self:
        """Set the partition columns."""
        return replace(self, _partition_by=columns)

    def properties(self, properties: Mapping[str, str]) -> Self:
        """Add properties of the table."""
        return replace(self, _properties=(*self._properties, *properties.items()))

    def property(self, name: str, value: str = "true") -> Self:
        """Add a property of the table."""
        return self.properties({name: value})

    def features(self, *names: str) -> Self:
        """Add table features."""
        return self.properties({f"delta.feature.{name}": "supported" for name in names})

    def rows(self, *commits: pa.Table, **columns: Any) -> Self:  # noqa: ANN401 (values)
        """Append rows, one commit for each table; or one of values: `n=[1, 2]`."""
        tables = (*commits, *([pa.table(columns)] if columns else ()))
        first = self._schema or tables[0].schema
        appends = [partial(DeltaTable.append, rows=rows) for rows in tables]
        return replace(self, _schema=first, _changes=(*self._changes, *appends))

    def then(self, *changes: Callable[[DeltaTable], object]) -> Self:
        """Change the table, for example by `lambda table: table.delete("n = 3")`."""
        return replace(self, _changes=(*self._changes, *changes))

    def build(self) -> DeltaTable:
        """Make the table."""
        if isinstance(self.place, Path):
            table = DeltaTable(str(self.place))
        else:
            table = DeltaTable.from_store(self.place or MemoryTableStore())
        new = NewTable(
            schema=self._schema or SCHEMA,
            partition_by=self._partition_by,
            properties=dict(self._properties),
        )
        create_table(table.store, new)
        for change in self._changes:
            change(table)
        return table

    def registered_as(self, name: str) -> "Table":
        """Make the table in its folder, register it under a name, and index it."""
        from tests.support.index.indexed_tables import new_indexed_table

        assert isinstance(self.place, Path)
        self.build()
        return new_indexed_table(name, self.place)


def numbers(table: DeltaTable) -> list[int]:
    """Return the values of the column `n`, in order."""
    return sorted(table.snapshot().read()["n"].to_pylist())
