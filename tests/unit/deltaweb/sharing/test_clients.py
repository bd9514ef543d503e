"""Which clients of shares read a version, in which format, and from which release."""

from collections.abc import Mapping
from typing import Any, Final

from deltaweb.delta.features.known.clients import Answer
from deltaweb.delta.protocol.actions import Metadata, Protocol
from deltaweb.delta.protocol.schema import PrimitiveType, StructField, StructType
from deltaweb.sharing.clients import ClientReading, HelpfulSetting, How, client_readings
from tests.support import cases

NTZ = PrimitiveType("timestamp_ntz")
NARROW = {"delta.typeChanges": [{"fromType": "integer", "toType": "long"}]}


def readings(
    *columns: StructField,
    features: list[str] | None = None,
    configuration: Mapping[str, str] | None = None,
    partition_columns: tuple[str, ...] = (),
    vectors: bool = False,
    is_plain: bool = False,
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
        is_plain=is_plain,
    )
    return {reading.name: reading for reading in found}


def test_a_plain_table_is_read_by_all_in_the_parquet_format() -> None:
    found = readings()

    assert list(found) == ["pandas", "Spark", "Polars", "DuckDB", "R", "Power BI"]
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
    assert found["Power BI"].verdict.answer is Answer.CANNOT
    assert "mark rows of its files as deleted" in found["Power BI"].reason


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
    assert found["R"].how is How.UNKNOWN
    assert "No release of it is known" in found["R"].reason


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
        "R",
        "Power BI",
    }


class TestPlainFiles:
    VECTORS: Final[Mapping[str, Any]] = {
        "features": ["deletionVectors"],
        "vectors": True,
    }

    def test_help_a_client_that_reads_only_the_parquet_format(self) -> None:
        found = readings(**self.VECTORS)

        assert found["Power BI"].how is How.CANNOT
        assert found["Power BI"].remedy is HelpfulSetting.PLAIN
        assert found["pandas"].how is How.STORED
        assert found["pandas"].remedy is HelpfulSetting.NONE

    def test_are_read_by_all_in_the_parquet_format(self) -> None:
        found = readings(**self.VECTORS, is_plain=True)

        assert {one.how for one in found.values()} == {How.PLAIN}
        assert {one.response_format for one in found.values()} == {"parquet"}
        assert {one.remedy for one in found.values()} == {HelpfulSetting.NONE}

    def test_help_with_widened_columns(self) -> None:
        column = StructField("n", PrimitiveType("long"), metadata=NARROW)

        assert readings(column)["Spark"].remedy is HelpfulSetting.PLAIN
        assert readings(column, is_plain=True)["Spark"].how is How.PLAIN

    def test_of_a_table_that_needs_none_are_those_that_are_stored(self) -> None:
        found = readings(is_plain=True)

        assert {one.how for one in found.values()} == {How.STORED}

    def test_do_not_help_where_the_format_has_no_such_type(self) -> None:
        column = StructField("at", NTZ)
        found = readings(column, features=["timestampNtz"], vectors=True)
        plain = readings(column, features=["timestampNtz"], vectors=True, is_plain=True)

        assert found["Power BI"].remedy is HelpfulSetting.NONE
        assert plain["Power BI"].how is How.CANNOT
        assert plain["pandas"].how is How.PLAIN
