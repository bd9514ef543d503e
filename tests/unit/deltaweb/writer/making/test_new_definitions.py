"""A definition that cannot be is refused before there is a table, and says where."""

import pyarrow as pa
import pytest

from deltaweb.delta.errors import SchemaError
from deltaweb.writer.making.new_table import NewTable, create_table
from tests.support import cases
from tests.support.stores.memory import MemoryTableStore

LONG = pa.int64()


@cases(
    "schema, said, hint",
    {
        "an empty name": (
            pa.schema([("a", LONG), ("", LONG)]),
            "column 2 of the table has no name",
            "Give it a name in the definition",
        ),
        "a blank": (
            pa.schema([(" ", LONG)]),
            "column 1 of the table has no name",
            "Give it a name in the definition",
        ),
        "at any depth": (
            pa.schema([("s", pa.list_(pa.struct([("", LONG)])))]),
            "column 1 of s.element has no name",
            "Give it a name in the definition",
        ),
        "one name twice": (
            pa.schema([("a", LONG), ("A", LONG)]),
            "Column 'A': another column has the same name",
            "Rename one of them in the definition",
        ),
        "twice in a struct": (
            pa.schema([("m", pa.map_(LONG, pa.struct([("x", LONG), ("X", LONG)])))]),
            "Column 'm.value.X': another column has the same name",
            "Rename one of them in the definition",
        ),
    },
)
def test_a_name_that_cannot_be_is_refused(schema: pa.Schema, said: str, hint: str):
    store = MemoryTableStore()

    with pytest.raises(SchemaError) as caught:
        create_table(store, NewTable(schema=schema))

    assert said in caught.value.message
    assert caught.value.hint.startswith(hint)
    assert not store.log_files


def test_no_hint_is_about_a_table_that_is_not_there() -> None:
    schema = pa.schema([("p", LONG)])

    with pytest.raises(SchemaError) as caught:
        create_table(MemoryTableStore(), NewTable(schema=schema, partition_by=["p"]))

    assert caught.value.hint.startswith("Correct the definition")
