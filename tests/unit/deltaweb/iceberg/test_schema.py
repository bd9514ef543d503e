"""Columns with field ids, and the names that files have for them."""

import pytest

from deltaweb.delta.features.column_mapping import mapped_schema
from deltaweb.delta.protocol.schema import (
    ArrayType,
    DataType,
    DecimalType,
    MapType,
    PrimitiveType,
    StructField,
    StructType,
    parse_schema,
)
from deltaweb.iceberg.errors import InexpressibleError
from deltaweb.iceberg.schema import (
    FIRST_MADE_ID,
    FieldIds,
    TableColumns,
    name_mapping,
    partition_fields,
    schema_json,
)

LONG, TEXT = PrimitiveType("long"), PrimitiveType("string")


def columns(*fields: StructField, partitions: tuple[str, ...] = ()) -> TableColumns:
    return TableColumns(StructType(fields), partitions)


def widened(narrow: str, wide: DataType, wide_text: str) -> StructField:
    changes = [{"fromType": narrow, "toType": wide_text}]
    return StructField("a", wide, metadata={"delta.typeChanges": changes})


def mapped(text: str) -> TableColumns:
    return TableColumns(mapped_schema(parse_schema(text), "name"), ())


def test_an_id_is_the_same_in_every_version_that_has_the_column() -> None:
    before = columns(StructField("a", LONG), StructField("b", TEXT))
    after = columns(StructField("b", TEXT), StructField("c", LONG))

    alone, together = FieldIds([after]), FieldIds([after, before])

    assert alone["b",] == together["b",] >= FIRST_MADE_ID
    assert len({together[name,] for name in "abc"}) == 3


def test_ids_of_a_column_mapping_are_taken_with_those_of_elements() -> None:
    text = (
        '{"type":"struct","fields":[{"name":"a","nullable":true,"type":'
        '{"type":"array","elementType":"long","containsNull":true},"metadata":'
        '{"delta.columnMapping.id":4,"delta.columnMapping.physicalName":"p",'
        '"delta.columnMapping.nested.ids":{"p.element":9}}}]}'
    )
    table = mapped(text)

    ids = FieldIds([table])

    (field,) = schema_json(table, ids)["fields"]
    assert (field["id"], field["name"]) == (4, "a")
    assert field["type"]["element-id"] == 9
    (first, *_) = name_mapping([table], ids)
    assert first == {
        "field-id": 4,
        "names": ["p"],
        "fields": [{"field-id": 9, "names": ["element"]}],
    }


def test_every_part_of_a_nested_column_has_an_id_of_its_own() -> None:
    struct = StructType((StructField("key", LONG), StructField("element", LONG)))
    table = columns(
        StructField("m", MapType(TEXT, ArrayType(struct))), StructField("key", LONG)
    )

    ids = FieldIds([table])

    (made, _) = schema_json(table, ids)["fields"]
    inner = made["type"]["value"]["element"]
    found = [
        made["id"],
        *(made["type"][name] for name in ("key-id", "value-id")),
        made["type"]["value"]["element-id"],
        *(field["id"] for field in inner["fields"]),
    ]
    assert len(set(found)) == len(found) == 6


@pytest.mark.parametrize(
    ("field", "reason"),
    [
        (StructField("v", PrimitiveType("variant")), "'v' is of type variant"),
        (StructField("v", ArrayType(PrimitiveType("void"))), "'v.element' is of"),
        (widened("integer", PrimitiveType("double"), "double"), "widened from int"),
        (widened("decimal(4,1)", DecimalType(9, 2), "decimal(9,2)"), "was widened"),
    ],
)
def test_what_iceberg_has_not_is_refused_by_name(field, reason):
    table = columns(field)

    with pytest.raises(InexpressibleError, match=reason):
        schema_json(table, FieldIds([table]))


def test_names_that_readers_would_take_for_one_are_refused() -> None:
    inner = StructType((StructField("b", LONG),))
    table = columns(StructField("a.b", LONG), StructField("a", inner))

    with pytest.raises(InexpressibleError, match=r"two columns are called 'a\.b'"):
        schema_json(table, FieldIds([table]))


def test_files_are_read_by_the_names_of_all_versions_and_beside_them() -> None:
    older, newer = columns(StructField("gone", LONG)), columns(StructField("a", LONG))
    ids = FieldIds([newer, older])

    names = [entry["names"] for entry in name_mapping([newer, older], ids)]

    assert names[0] == ["a"]
    assert ["gone"] in names
    assert ["_change_type"] in names


@pytest.mark.parametrize(
    ("name", "called"),
    [("day", "day"), ("a b", "partition_0"), ("Tag%2F=é", "partition_0")],
)
def test_partitions_have_names_that_avro_takes(name: str, called: str) -> None:
    table = columns(StructField(name, TEXT), partitions=(name,))

    (field,) = partition_fields(table, FieldIds([table]))

    assert (field.name, field.field_id) == (called, 1000)
    assert field.source_id == FieldIds([table])[name,]
