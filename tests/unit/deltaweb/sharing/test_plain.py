"""The plain form of versions: which files need a copy, and what recipients get."""

import json
from dataclasses import replace
from typing import Any

import pyarrow as pa

from deltaweb.delta.features.column_mapping import table_schema
from deltaweb.delta.protocol.actions import Metadata, Protocol
from deltaweb.delta.protocol.schema import parse_schema
from deltaweb.sharing.compatibility import Misreading
from deltaweb.sharing.plain import (
    IN_COPIES,
    PlainForm,
    has_plain_types,
    left_in_plain,
    may_need_copies,
    needs_plain,
    plain_form,
    plain_schema,
)
from tests.support import cases

WIDENED = {"delta.typeChanges": [{"fromType": "integer", "toType": "long"}]}


def mapped(number: int, name: str) -> dict[str, Any]:
    return {
        "delta.columnMapping.id": number,
        "delta.columnMapping.physicalName": name,
    }


def field(name: str, kind: Any = "long", **metadata: Any) -> dict[str, Any]:  # noqa: ANN401 (JSON)
    return {"name": name, "type": kind, "nullable": True, "metadata": metadata}


def struct(*fields: dict[str, Any]) -> dict[str, Any]:
    return {"type": "struct", "fields": list(fields)}


def facts(
    *fields: dict[str, Any], features: list[str] | None = None, mode: str = ""
) -> tuple[Protocol, Metadata, Any]:
    """A protocol, a metaData, and the schema of both."""
    protocol = Protocol(
        min_reader_version=1 if features is None else 3,
        min_writer_version=2 if features is None else 7,
        reader_features=features,
        writer_features=features,
    )
    configuration = {"delta.appendOnly": "false", "delta.enableTypeWidening": "true"}
    if mode:
        configuration["delta.columnMapping.mode"] = mode
    metadata = Metadata(
        id="t",
        schema_string=json.dumps(struct(*fields)),
        configuration=configuration,
        partition_columns=[],
    )
    return protocol, metadata, table_schema(protocol, metadata)


OWN = field("id", **mapped(1, "id"))
OTHER = field("id", **mapped(1, "col-1"))
NESTED = field(
    "s", struct(field("x", **WIDENED | mapped(2, "col-2"))), **mapped(1, "s")
)
VECTORS, MAPPING, WIDENING = "deletionVectors", "columnMapping", "typeWidening"


@cases(
    "told, copies, may_need",
    {
        "no feature": (facts(field("id")), "", False),
        "vectors": (facts(field("id"), features=[VECTORS]), "", True),
        "equal names": (facts(OWN, features=[MAPPING], mode="name"), "", False),
        "other names": (facts(OTHER, features=[MAPPING], mode="name"), "all", True),
        "ids": (facts(OWN, features=[MAPPING], mode="id"), "all", True),
        "mode without feature": (facts(OTHER, mode="name"), "", False),
        "wider types": (
            facts(field("id", **WIDENED), features=[WIDENING]),
            "types",
            True,
        ),
        "nested": (
            facts(NESTED, features=[MAPPING], mode="name"),
            "all types",
            True,
        ),
    },
)
def test_files_need_a_copy_where_clients_would_misread_them(
    told: tuple[Any, Any, Any], copies: str, *, may_need: bool
) -> None:
    form = plain_form(*told)

    assert form.copies_all is ("all" in copies)
    assert form.checks_types is ("types" in copies)
    assert may_need_copies(*told) is may_need
    assert form.protocol == Protocol(min_reader_version=1, min_writer_version=2)


@cases(
    "largest, is_copied",
    {"all columns": ("1", False), "a dropped column": ("2", True), "?": ("x", False)},
)
def test_files_that_may_hold_a_dropped_column_need_a_copy(
    largest: str, *, is_copied: bool
) -> None:
    protocol, metadata, schema = facts(OWN, features=[MAPPING], mode="name")
    known = {**metadata.configuration, "delta.columnMapping.maxColumnId": largest}
    metadata = replace(metadata, configuration=known)

    assert plain_form(protocol, metadata, schema).copies_all is is_copied
    assert may_need_copies(protocol, metadata, schema) is is_copied


def form_of(*fields: dict[str, Any], features: list[str]) -> PlainForm:
    return plain_form(*facts(*fields, features=features))


def test_what_is_told_of_columns_says_nothing_of_how_they_are_stored() -> None:
    protocol, metadata, schema = facts(
        NESTED | {"metadata": NESTED["metadata"] | {"comment": "all"}},
        features=[MAPPING, "typeWidening-preview", "v2Checkpoint"],
        mode="name",
    )

    form = plain_form(protocol, metadata, schema)

    assert json.loads(form.metadata.schema_string or "") == struct(
        field("s", struct(field("x")), comment="all")
    )
    assert form.metadata.configuration == {"delta.appendOnly": "false"}
    assert parse_schema(form.metadata.schema_string or "") == plain_schema(schema)
    assert plain_schema(schema).fields[0].stored_name == "s"


@cases(
    "columns, features, kept",
    {
        "without zone": (
            [field("t", "timestamp_ntz")],
            ["timestampNtz", VECTORS],
            ["timestampNtz"],
        ),
        "without zone, unused": ([field("t")], ["timestampNtz"], None),
        "variants": (
            [field("v", "variant")],
            ["variantType-preview", "variantShredding-preview", MAPPING],
            ["variantType-preview", "variantShredding-preview"],
        ),
        "an unknown one": ([field("t")], ["newFormat", VECTORS], ["newFormat"]),
    },
)
def test_reader_features_stay_that_copies_do_not_remove(
    columns: list[dict[str, Any]], features: list[str], kept: list[str] | None
) -> None:
    assert form_of(*columns, features=features).protocol.reader_features == kept


@cases(
    "protocol",
    {
        "version 4": Protocol(min_reader_version=4, min_writer_version=7),
        "no list": Protocol(min_reader_version=3, min_writer_version=7),
    },
)
def test_a_protocol_stays_that_is_not_known(protocol: Protocol) -> None:
    _, metadata, schema = facts(field("id"))

    assert plain_form(protocol, metadata, schema).protocol == protocol


LIST = pa.list_(pa.int32())


@cases(
    "stored, is_plain",
    {
        "equal": ([("id", pa.int64()), ("s", pa.struct([("x", LIST)]))], True),
        "without a column": ([("other", pa.int8())], True),
        "narrower": ([("id", pa.int32())], False),
        "narrower inside": (
            [("s", pa.struct([("x", pa.list_(pa.int16()))]))],
            False,
        ),
        "without a field": ([("s", pa.struct([("y", pa.int8())]))], True),
        "of another kind": ([("s", LIST)], False),
        "an older time": ([("t", pa.timestamp("ns"))], True),
        "a narrower map": ([("m", pa.map_(pa.string(), pa.int16()))], False),
        "an equal map": ([("m", pa.map_(pa.string(), pa.int32()))], True),
    },
)
def test_a_file_is_plain_if_its_columns_have_the_types_of_the_schema(
    stored: list[tuple[str, pa.DataType]], *, is_plain: bool
) -> None:
    inside = {"type": "array", "elementType": "integer", "containsNull": True}
    pairs = {
        "type": "map",
        "keyType": "string",
        "valueType": "integer",
        "valueContainsNull": True,
    }
    _, _, schema = facts(
        *(field("id"), field("s", struct(field("x", inside)))),
        *(field("t", "timestamp"), field("m", pairs)),
    )

    assert has_plain_types(pa.schema(stored), schema) is is_plain


def test_copies_remove_some_reasons_for_misreadings() -> None:
    found = [Misreading(name, "") for name in (VECTORS, "timestampNtz")]

    assert needs_plain(found)
    assert [one.feature for one in left_in_plain(found)] == ["timestampNtz"]
    assert not needs_plain(left_in_plain(found))
    assert {VECTORS, MAPPING, WIDENING} == IN_COPIES
