"""What columns are stored as: decided once, by protocol and metaData."""

import json
from typing import Any

import pytest

from deltaweb.delta.errors import SchemaError
from deltaweb.delta.features.column_mapping import table_schema
from deltaweb.delta.protocol.actions import Metadata, Protocol
from deltaweb.delta.protocol.schema import stored_schema
from tests.support import cases
from tests.support.tables.mapped_tables import field, struct

MAPPED = Protocol(min_reader_version=2, min_writer_version=5)
TOWN = struct(field("town", "string", 3, "col-3"))
FIELDS = [
    field("id", "long", 1, "col-1"),
    field("home", TOWN, 2, "col-2"),
    field(
        "visits",
        {"type": "array", "elementType": struct(field("at", "date", 5, "col-5"))},
        4,
        "col-4",
    ),
    field(
        "by_key",
        {
            "type": "map",
            "keyType": struct(field("k", "string", 7, "col-7")),
            "valueType": struct(field("v", "long", 8, "col-8")),
        },
        6,
        "col-6",
    ),
]


def schema_of(*fields: dict[str, Any], mode: str = "name", protocol: Protocol = MAPPED):
    metadata = Metadata(
        id="t",
        schema_string=json.dumps(struct(*fields)),
        configuration={"delta.columnMapping.mode": mode},
    )
    return table_schema(protocol, metadata)


class TestASchema:
    def test_keeps_its_logical_names(self) -> None:
        assert schema_of(*FIELDS).names == ("id", "home", "visits", "by_key")

    def test_knows_what_columns_are_stored_as_however_deep(self) -> None:
        stored = stored_schema(schema_of(*FIELDS))

        assert stored.names == ("col-1", "col-2", "col-4", "col-6")
        text = repr(stored)
        for number in (3, 5, 7, 8):
            assert f"StructField(name='col-{number}'" in text

    def test_has_ids_where_files_are_read_by_them(self) -> None:
        by_id, by_name = (schema_of(*FIELDS, mode=mode) for mode in ("id", "name"))

        assert [column.field_id for column in by_id.fields] == [1, 2, 4, 6]
        assert [column.field_id for column in by_name.fields] == [None] * 4

    @pytest.mark.parametrize("mode", ["none", "NONE"])
    def test_without_mapping_is_stored_as_it_is_called(self, mode: str) -> None:
        schema = schema_of(*FIELDS, mode=mode)

        assert stored_schema(schema) is schema

    @pytest.mark.parametrize(
        "protocol",
        [
            Protocol(min_reader_version=1, min_writer_version=7),
            Protocol(
                min_reader_version=3,
                min_writer_version=7,
                reader_features=["deletionVectors"],
            ),
        ],
        ids=["of an old reader", "without the feature"],
    )
    def test_ignores_the_property_under_a_protocol_that_does_not_know_it(
        self, protocol: Protocol
    ) -> None:
        schema = schema_of(*FIELDS, protocol=protocol)

        assert stored_schema(schema) is schema


class TestAMappingThatContradictsItself:
    @cases(
        "fields, column, reason",
        {
            "two columns with one physical name": (
                [field("a", "long", 1, "x"), field("b", "long", 2, "x")],
                "b",
                "same physical name 'x' as 'a'",
            ),
            "two physical names that only case tells apart": (
                [field("a", "long", 1, "x"), field("b", "long", 2, "X")],
                "b",
                "same physical name 'X' as 'a'",
            ),
            "one id of a struct and its field": (
                [field("a", struct(field("b", "long", 1, "y")), 1, "x")],
                "a.b",
                "same column mapping id 1 as 'a'",
            ),
            "two nested columns with one physical name": (
                [
                    field(
                        "a",
                        {
                            "type": "array",
                            "elementType": struct(
                                field("b", "long", 2, "y"), field("c", "long", 3, "y")
                            ),
                        },
                        1,
                        "x",
                    )
                ],
                "a.element.c",
                "same physical name 'y' as 'b'",
            ),
            "an id of 0": ([field("a", "long", 0, "x")], "a", "id 0 is not"),
            "a negative id": ([field("a", "long", -1, "x")], "a", "-1"),
            "a long id": ([field("a", "long", 1 << 31, "x")], "a", "2147483648"),
            "a truth value as id": (
                [field("a", "long", physical="x", field_id=True)],
                "a",
                "True",
            ),
            "no id": ([field("a", "long", None, "x")], "a", "no column"),
            "no name": ([field("a", "long", 1, None)], "a", "physical"),
            "empty name": ([field("a", "long", 1, "")], "a", "physical"),
            "number": ([field("a", "long", 1, 7)], "a", "physical"),
        },
    )
    @pytest.mark.parametrize("mode", ["name", "id"])
    def test_is_refused_by_the_column(self, fields, column, reason, mode):
        with pytest.raises(SchemaError) as caught:
            schema_of(*fields, mode=mode)

        assert caught.value.column == column
        assert reason in caught.value.message

    def test_of_no_mode_that_there_is_is_refused(self) -> None:
        with pytest.raises(SchemaError, match="'sideways'"):
            schema_of(*FIELDS, mode="sideways")
