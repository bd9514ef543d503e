"""Which clients of shares read a version, in which format, and from which release."""

from collections.abc import Mapping
from typing import Any

from deltaweb.delta.features.known.clients import Answer
from deltaweb.delta.protocol.actions import Metadata, Protocol
from deltaweb.delta.protocol.schema import PrimitiveType, StructField, StructType
from deltaweb.sharing.clients import SHARE_CLIENTS, ClientReading, client_readings
from deltaweb.sharing.response_format import IN_DELTA
from tests.support import cases

NTZ = PrimitiveType("timestamp_ntz")
NARROW = {"delta.typeChanges": [{"fromType": "integer", "toType": "long"}]}


def readings(
    *columns: StructField,
    features: list[str] | None = None,
    configuration: Mapping[str, str] | None = None,
    partition_columns: tuple[str, ...] = (),
    vectors: bool = False,
) -> dict[str, ClientReading]:
    found = client_readings(
        Protocol(
            min_reader_version=3 if features else 1,
            min_writer_version=7,
            reader_features=features,
            writer_features=features,
        ),
        Metadata(
            id="t",
            configuration=configuration or {},
            partition_columns=partition_columns,
        ),
        StructType(columns or (StructField("id", PrimitiveType("long")),)),
        has_deletion_vectors=vectors,
    )
    return {reading.client: reading for reading in found}


def test_a_plain_table_is_read_by_all_in_the_parquet_format() -> None:
    found = readings()

    assert list(found) == ["pandas", "Spark", "Polars", "DuckDB", "Power BI"]
    assert all(reading.can_read for reading in found.values())
    assert all(reading.minimum_version for reading in found.values())
    assert {reading.response_format for reading in found.values()} == {"parquet"}


def test_vectors_and_mapping_are_read_in_the_delta_format() -> None:
    found = readings(
        features=["columnMapping", "deletionVectors"],
        configuration={"delta.columnMapping.mode": "id"},
        vectors=True,
    )

    assert found["pandas"].minimum_version == "delta-sharing 1.1"
    assert found["Spark"].minimum_version == "delta-sharing-spark 3.1"
    assert found["DuckDB"].response_format == "delta"
    assert not found["Power BI"].can_read
    assert found["Power BI"].verdict.answer is Answer.UNKNOWN
    assert "No release of it is known" in found["Power BI"].reason


def test_the_format_is_that_of_what_older_versions_may_use() -> None:
    found = readings(features=["deletionVectors"])

    assert found["pandas"].response_format == "delta"
    assert found["pandas"].minimum_version == "delta-sharing 0.1"
    assert found["Power BI"].response_format == "parquet"


def test_the_feature_of_the_newest_release_decides() -> None:
    found = readings(StructField("at", NTZ), features=["timestampNtz"], vectors=True)

    assert found["Polars"].minimum_version == "delta-sharing 1.4"
    assert found["Polars"].verdict.decided_by == "timestampNtz"
    assert found["Spark"].minimum_version == "delta-sharing-spark 3.3"


def test_a_release_is_not_guessed() -> None:
    found = readings(StructField("n", PrimitiveType("long"), metadata=NARROW))

    assert not any(reading.can_read for reading in found.values())
    assert "type widening" in found["Spark"].reason


def test_what_no_answer_carries_is_read_by_nobody_for_its_reason() -> None:
    found = readings(features=["catalogManaged"])

    assert {reading.verdict.answer for reading in found.values()} == {Answer.CANNOT}
    assert "A catalog decides" in found["pandas"].reason


@cases(
    "column, partitioned",
    {
        "void": (StructField("n", PrimitiveType("void")), ()),
        "null": (StructField("n", PrimitiveType("void", spelling="null")), ()),
        "binary partition": (StructField("b", PrimitiveType("binary")), ("b",)),
    },
)
def test_what_the_python_client_alone_does_not_read(column, partitioned):
    found: dict[str, Any] = readings(column, partition_columns=partitioned)

    assert {name for name, one in found.items() if one.can_read} == {
        "Spark",
        "Power BI",
    }


def test_only_what_answers_carry_has_a_release() -> None:
    assert all(client.in_delta.keys() <= IN_DELTA for client in SHARE_CLIENTS)
