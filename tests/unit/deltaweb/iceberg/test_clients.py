"""The clients of the Iceberg catalog that read a version, and why others do not."""

from deltaweb.delta.protocol.actions import Metadata, Protocol
from deltaweb.delta.protocol.schema import (
    DataType,
    MapType,
    PrimitiveType,
    StructField,
    StructType,
    format_schema,
)
from deltaweb.iceberg.clients import iceberg_readings, without_ids
from deltaweb.sharing.clients import ClientReading, HelpfulSetting, How
from tests.support import cases

LONG = PrimitiveType("long")
MAPPED = {"delta.columnMapping.mode": "name"}
OF_SCALE = {"delta.typeChanges": [{"fromType": "integer", "toType": "decimal(12,2)"}]}


def readings(
    data_type: DataType = LONG,
    *,
    features: list[str] | None = None,
    vectors: bool = False,
    has_ids: bool = True,
    is_plain: bool = False,
    **metadata: object,
) -> dict[str, ClientReading]:
    schema = StructType((StructField("n", data_type, metadata=metadata),))
    found = iceberg_readings(
        Protocol(
            min_reader_version=3 if features else 1,
            min_writer_version=7,
            reader_features=features,
            writer_features=features,
        ),
        Metadata(id="t", schema_string=format_schema(schema)),
        schema,
        has_deletion_vectors=vectors,
        is_plain=is_plain,
    )
    served = found if has_ids else without_ids(found, schema)
    return {one.name: one for one in served}


def test_a_plain_table_is_read_by_all() -> None:
    found = readings()

    assert {one.how for one in found.values()} == {How.STORED}
    assert found["PyIceberg"].minimum_version == "pyiceberg 0.12"
    assert {one.response_format for one in found.values()} == {"iceberg"}


def test_mapped_columns_and_times_without_a_zone_are_read() -> None:
    found = readings(
        PrimitiveType("timestamp_ntz"), features=["columnMapping", "timestampNtz"]
    )

    assert all(one.can_read for one in found.values())


@cases(
    "data_type, metadata, said",
    {
        "void": (PrimitiveType("void"), {}, "is of type void"),
        "variant": (PrimitiveType("variant"), {}, "is of type variant"),
        "a scale": (PrimitiveType("integer"), OF_SCALE, "was widened from"),
        "no change": (LONG, {"delta.typeChanges": [{}]}, ""),
    },
)
def test_what_iceberg_cannot_express_is_read_by_nobody(data_type, metadata, said):
    found = readings(data_type, **metadata)

    assert {one.how for one in found.values()} == {How.CANNOT}
    assert all(said in one.reason for one in found.values())


def test_what_a_catalog_decides_is_read_by_nobody() -> None:
    found = readings(features=["catalogManaged"])

    assert {one.how for one in found.values()} == {How.CANNOT}


def test_vectors_are_read_by_the_clients_that_were_tried() -> None:
    found = readings(features=["deletionVectors"], vectors=True)

    assert found["PyIceberg"].how is How.STORED
    assert found["DuckDB with Iceberg"].how is How.STORED
    assert found["Daft"].how is How.CANNOT
    assert "deleted" in found["Daft"].reason
    assert found["Daft"].remedy is HelpfulSetting.PLAIN


@cases(
    "used, metadata",
    {"vectors": (["deletionVectors"], {}), "a scale": (["typeWidening"], OF_SCALE)},
)
def test_plain_files_are_read_by_all(used, metadata):
    found = readings(features=used, vectors=True, is_plain=True, **metadata)

    assert {one.how for one in found.values()} == {How.PLAIN}


def test_files_that_are_plain_as_stored_are_read_as_stored() -> None:
    assert {one.how for one in readings(is_plain=True).values()} == {How.STORED}


def test_without_ids_some_clients_read_nothing() -> None:
    found = readings(has_ids=False)

    unread = {name for name, one in found.items() if not one.can_read}
    assert unread == {"Daft", "Polars with Iceberg"}
    assert {found[name].remedy for name in unread} == {HelpfulSetting.IDS}


def test_without_ids_some_clients_do_not_read_maps() -> None:
    data_type = MapType(PrimitiveType("string"), LONG)

    found = readings(data_type, has_ids=False)["DuckDB with Iceberg"]

    assert found.how is How.CANNOT
    assert found.remedy is HelpfulSetting.IDS
    assert "field ids" in found.reason
    assert readings(data_type)["DuckDB with Iceberg"].can_read
    assert readings(has_ids=False)["DuckDB with Iceberg"].can_read
