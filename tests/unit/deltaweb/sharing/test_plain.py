"""The plain form of versions: which files need a copy, and what recipients get."""

import io
import json
from dataclasses import replace
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from deltaweb.delta.features.column_mapping import table_schema
from deltaweb.delta.protocol.actions import Metadata, Protocol
from deltaweb.delta.protocol.schema import parse_schema
from deltaweb.delta.scan.predicate import NOTHING, Comparison, Constant, Or
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
    checked = Constant(value=True) if "types" in copies else NOTHING
    assert form.checked_where == checked
    assert may_need_copies(*told) is may_need
    assert form.protocol == Protocol(min_reader_version=1, min_writer_version=2)


TIMES_OF_MAPS = {
    "type": "map",
    "keyType": "string",
    "valueType": struct(field("at", "timestamp")),
    "valueContainsNull": True,
}


def test_files_are_looked_at_whose_times_may_be_too_far_for_nanoseconds() -> None:
    inside = struct(field("at", "timestamp_ntz"), field("x"))

    form = plain_form(*facts(field("id"), field("t", "timestamp"), field("s", inside)))

    checked = form.checked_where
    assert isinstance(checked, Or)
    assert [
        (one.column, one.operator, one.value.cast(pa.int64()).as_py())
        for one in checked.parts
        if isinstance(one, Comparison)
    ] == [
        (path, operator, us)
        for path in (("t",), ("s", "at"))
        for operator, us in (
            ("<", -9_223_372_036_852_776),
            (">", 9_223_372_036_852_775),
        )
    ]
    assert not may_need_copies(*facts(field("t", "timestamp")))


def test_files_with_times_in_maps_are_always_looked_at() -> None:
    form = plain_form(*facts(field("m", TIMES_OF_MAPS)))

    assert form.checked_where == Constant(value=True)


def test_partition_columns_are_not_in_files() -> None:
    protocol, metadata, schema = facts(field("t", "timestamp"), field("id"))
    metadata = replace(metadata, partition_columns=["t"])

    assert plain_form(protocol, metadata, schema).checked_where == NOTHING


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

    assert has_plain_types(file_of(pa.schema(stored)), schema) is is_plain


def file_of(stored: pa.Schema, **options: Any) -> pq.ParquetFile:  # noqa: ANN401 (of Arrow)
    """A file without rows."""
    sink = io.BytesIO()
    pq.write_table(stored.empty_table(), sink, **options)
    return pq.ParquetFile(sink)


def test_a_file_with_times_of_96_bits_is_not_plain() -> None:
    _, _, schema = facts(field("t", "timestamp"))
    stored = pa.schema([("t", pa.timestamp("us", "UTC"))])

    assert has_plain_types(file_of(stored), schema)
    old = file_of(stored, use_deprecated_int96_timestamps=True)
    assert not has_plain_types(old, schema)


def test_copies_remove_some_reasons_for_misreadings() -> None:
    found = [Misreading(name, "") for name in (VECTORS, "timestampNtz")]

    assert needs_plain(found)
    assert [one.feature for one in left_in_plain(found)] == ["timestampNtz"]
    assert not needs_plain(left_in_plain(found))
    assert {VECTORS, MAPPING, WIDENING} == IN_COPIES
