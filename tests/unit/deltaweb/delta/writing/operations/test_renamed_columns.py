"""Columns that are renamed and dropped, at any depth, and the rules that name them."""

import json
from collections.abc import Mapping

import pyarrow as pa
import pytest

from deltaweb import DeltaTable
from deltaweb.delta.errors import ColumnNotFoundError
from deltaweb.delta.log.paths import commit_name
from deltaweb.delta.writing.errors import ColumnInUseError
from tests.support import cases
from tests.support.logs.delta_logs import commit_bytes
from tests.support.tables.table_builder import TableBuilder

STRUCT = pa.struct([("x", pa.int32()), ("y", pa.string())])
SCHEMA = pa.schema(
    [
        ("id", pa.int64()),
        ("st", STRUCT),
        ("s2", STRUCT),
        ("arr", pa.list_(STRUCT)),
        ("m", pa.map_(STRUCT, STRUCT)),
        ("deep", pa.list_(pa.map_(pa.string(), pa.list_(STRUCT)))),
        ("a`b", pa.int32()),
        ("a.b", STRUCT),
        ("net,gross", pa.int32()),
    ]
)
VALUE = {"x": 1, "y": "z"}
ROW = {
    "id": 1,
    "st": VALUE,
    "s2": VALUE,
    "arr": [VALUE],
    "m": [(VALUE, VALUE)],
    "deep": [[("k", [VALUE])]],
    "a`b": 1,
    "a.b": VALUE,
    "net,gross": 5,
}
STATISTICS = "delta.dataSkippingStatsColumns"


def table_with(properties: Mapping[str, str] | None = None) -> DeltaTable:
    named = {"delta.columnMapping.mode": "name", **(properties or {})}
    builder = TableBuilder().columns(SCHEMA).properties(named)
    return builder.rows(pa.Table.from_pylist([ROW], SCHEMA)).build()


def ruled_table(rule: str, *, key: str = "") -> DeltaTable:
    """Return the table with a rule of another engine: some are not evaluated here.

    Args:
        key: Of the metadata of the column `id` that has the rule; a CHECK without it.
    """
    table = table_with()
    store = table.store
    actions = map(json.loads, store.read(commit_name(0)).splitlines())
    (action,) = (action for action in actions if "metaData" in action)
    metadata = action["metaData"]
    if key:
        schema = json.loads(metadata["schemaString"])
        schema["fields"][0]["metadata"][key] = rule
        metadata["schemaString"] = json.dumps(schema)
    else:
        metadata["configuration"]["delta.constraints.ck"] = rule
    store.put_if_absent(commit_name(2), commit_bytes(action))
    return table


def row(table: DeltaTable) -> Mapping[str, object]:
    (found,) = table.snapshot().read().to_pylist()
    return found


PARTS = {
    "st.x": ("st", {"new": 1, "y": "z"}),
    "ST.X": ("st", {"new": 1, "y": "z"}),
    "arr.element.x": ("arr", [{"new": 1, "y": "z"}]),
    "m.value.x": ("m", [(VALUE, {"new": 1, "y": "z"})]),
    "m.key.x": ("m", [({"new": 1, "y": "z"}, VALUE)]),
    "deep.element.value.element.x": ("deep", [[("k", [{"new": 1, "y": "z"}])]]),
    "`a.b`.x": ("a.b", {"new": 1, "y": "z"}),
    "`a.b`.`x`": ("a.b", {"new": 1, "y": "z"}),
    "`a``b`": ("new", 1),
    "a`b": ("new", 1),
    "`net,gross`": ("new", 5),
    "net,gross": ("new", 5),
}


@pytest.mark.parametrize("column", PARTS)
def test_a_part_is_renamed(column: str) -> None:
    table, (name, value) = table_with(), PARTS[column]

    table.rename_column(column, "new")

    assert row(table)[name] == value
    table.append(table.snapshot().read())
    assert table.snapshot().read().num_rows == 2


@pytest.mark.parametrize("column", [name for name in PARTS if name.endswith("x")])
def test_a_part_is_dropped(column: str) -> None:
    table = table_with()

    table.drop_column(column)

    assert str(row(table)[PARTS[column][0]]).count("x") == str(PARTS[column][1]).count(
        "x"
    )


@cases(
    "column, error",
    {
        "an element": ("arr.element", ColumnInUseError),
        "a key": ("m.key", ColumnInUseError),
        "a value": ("deep.element.value", ColumnInUseError),
        "a field without the element": ("arr.x", ColumnNotFoundError),
        "no field": ("arr.element.q", ColumnNotFoundError),
        "an empty name": ("st.", ColumnNotFoundError),
        "a field of a number": ("id.x", ColumnNotFoundError),
    },
)
def test_what_is_no_column_is_refused(column: str, error: type[Exception]) -> None:
    table = table_with()

    with pytest.raises(error):
        table.rename_column(column, "new")
    with pytest.raises(error):
        table.drop_column(column)


RULES = {
    "st.x > 0": ["st", "st.x"],
    "st IS NOT NULL": ["st", "st.x", "st.y"],
    "`a``b` > 0": ["a`b"],
    "`a.b`.x > 0": ["`a.b`", "`a.b`.x"],
    "`net,gross` > 0": ["`net,gross`"],
    "size(arr) > 0": ["arr", "arr.element.x", "arr.element.y"],
    "exists(arr, e -> e.x > 0)": ["arr", "arr.element.x", "arr.element.y"],
    "size(m) > 0": ["m", "m.key.x", "m.value.x"],
}
COLUMNS = ["id", "st", "st.x", "st.y", "s2", "s2.x", "s2.y", "arr", "arr.element.x"]
COLUMNS += ["arr.element.y", "m", "m.key.x", "m.value.x", "a`b", "`a.b`", "`a.b`.x"]
COLUMNS += ["`net,gross`", "deep.element.value.element.x"]


@pytest.mark.parametrize("rule", RULES)
def test_a_column_that_a_rule_names_stays(rule: str) -> None:
    refused = []
    for column in COLUMNS:
        table = ruled_table(rule)
        try:
            table.rename_column(column, "new")
        except ColumnInUseError:
            refused.append(column)

    assert [*map(normal, refused)] == [*map(normal, RULES[rule])]


def normal(column: str) -> str:
    return column.replace("`a.b`", "a.b")


@cases(
    "key, rule",
    {
        "a generated column": ("delta.generationExpression", "st.x + 1"),
        "an invariant": (
            "delta.invariants",
            '{"expression": {"expression": "st.x > 0 AND \'s2 id\' > \'\'"}}',
        ),
        "an invariant that is not wrapped": ("delta.invariants", "st.x > 0"),
    },
)
def test_a_column_that_the_rule_of_a_column_names_stays(key: str, rule: str) -> None:
    table = ruled_table(rule, key=key)

    for column in ("st", "st.x"):
        with pytest.raises(ColumnInUseError, match=rf"{key} of id names it"):
            table.drop_column(column)
    table.rename_column("s2.x", "z")
    table.rename_column("st.y", "z")
    table.drop_column("s2")


def test_a_field_of_a_list_is_in_use_by_its_own_name_alone() -> None:
    table = ruled_table("arr.x[0] > 0")

    table.rename_column("arr.element.y", "new")

    with pytest.raises(ColumnInUseError, match="constraint ck"):
        table.drop_column("arr.element.x")


@cases(
    "before, column, new, after",
    {
        "a column": ("id, st", "id", "key", "key,st"),
        "in another case": ("ID", "id", "Key", "Key"),
        "a new name with a dot": ("id,`net,gross`", "id", "k.k", "`k.k`,`net,gross`"),
        "a quoted name": ("id,`net,gross`", "net,gross", "net", "id,net"),
        "a struct": ("id,st.x,s2.x", "st", "s 3", "id,`s 3`.x,s2.x"),
        "a field": ("st.x,s2.x,st.y", "st.x", "q", "st.q,s2.x,st.y"),
        "a field of one that is named": ("st", "st.x", "q", "st"),
        "with a backtick": ("`a``b`", "a`b", "c`d", "`c``d`"),
        "another": ("id,`a.b`.x", "st", "new", "id,`a.b`.x"),
        "dropped": ("id, st.x ,s2", "st", None, "id,s2"),
        "a dropped field": ("st.x,st.y,s2", "st.x", None, "st.y,s2"),
        "the last one dropped": ("st.x", "st", None, ""),
    },
)
def test_the_list_of_columns_with_statistics_follows(
    before: str, column: str, new: str | None, after: str
) -> None:
    table = table_with({STATISTICS: before})

    if new is None:
        table.drop_column(column)
    else:
        table.rename_column(column, new)

    assert table.definition().metadata.configuration[STATISTICS] == after


def test_the_history_quotes_names_with_dots() -> None:
    table = table_with()
    table.rename_column("`a.b`.x", "y.y")
    table.drop_column("a.b")

    dropped, renamed, *_ = table.history()
    assert dropped.parameters == {"columns": '["`a.b`"]'}
    assert renamed.parameters == {
        "oldColumnPath": "`a.b`.x",
        "newColumnPath": "`a.b`.`y.y`",
    }
