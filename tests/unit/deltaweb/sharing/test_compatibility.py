from collections.abc import Mapping
from typing import Any

import pytest

from deltaweb.delta.features.feature import Reading
from deltaweb.delta.features.registry import FEATURES
from deltaweb.delta.protocol.actions import Format, Metadata, Protocol
from deltaweb.delta.protocol.schema import (
    ArrayType,
    DataType,
    MapType,
    PrimitiveType,
    StructField,
    StructType,
)
from deltaweb.sharing.compatibility import Misreading, misreadings
from tests.support import cases

LONG = PrimitiveType("long")
NTZ = PrimitiveType("timestamp_ntz")
VARIANT = PrimitiveType("variant")
MAPPED = {"delta.columnMapping.mode": "name"}
NARROW: dict[str, Any] = {
    "delta.typeChanges": [{"fromType": "integer", "toType": "long"}]
}


def table(
    *columns: StructField,
    reader: int = 1,
    features: list[str] | None = None,
    configuration: Mapping[str, str] | None = None,
    provider: str = "parquet",
    partition_columns: tuple[str, ...] = (),
) -> dict[str, Any]:
    return {
        "protocol": Protocol(
            min_reader_version=reader, min_writer_version=7, reader_features=features
        ),
        "metadata": Metadata(
            id="t",
            configuration=configuration or {},
            format=Format(provider=provider),
            partition_columns=partition_columns,
        ),
        "schema": StructType(columns or (column("id"),)),
    }


def column(name: str, data_type: DataType = LONG, **metadata: Any) -> StructField:  # noqa: ANN401 (any JSON)
    return StructField(name, data_type, metadata=metadata)


def physical(name: str) -> dict[str, Any]:
    return {"delta.columnMapping.physicalName": name}


def found(facts: dict[str, Any], *, vectors: bool | None = False) -> list[Misreading]:
    return misreadings(**facts, has_deletion_vectors=vectors)


class TestMisreadings:
    def test_of_a_plain_table_are_none(self) -> None:
        assert found(table()) == []

    @cases(
        "features",
        {
            "deletion vectors": ["deletionVectors"],
            "column mapping": ["columnMapping"],
            "type widening": ["typeWidening"],
            "timestamp without zone": ["timestampNtz"],
            "variant": ["variantType", "variantShredding"],
            "writers' rules": ["vacuumProtocolCheck", "appendOnly"],
        },
    )
    def test_of_a_feature_that_is_only_supported_are_none(self, features: list[str]):
        assert found(table(reader=3, features=features)) == []

    @cases(
        "facts, feature",
        {
            "a later reader": (table(reader=4), "reader version 4"),
            "no list": (table(reader=3), "reader version 3"),
            "another format": (table(provider="orc"), "format"),
            "timestamp without zone": (table(column("at", NTZ)), "timestampNtz"),
            "timestamp without zone in a map in an array": (
                table(column("at", ArrayType(MapType(LONG, NTZ)))),
                "timestampNtz",
            ),
            "variant in a struct in an array": (
                table(column("s", ArrayType(StructType((column("v", VARIANT),))))),
                "variantType",
            ),
            "widened type": (table(column("n", **NARROW)), "typeWidening"),
            "widened type in the key of a map": (
                table(column("m", MapType(StructType((column("n", **NARROW),)), LONG))),
                "typeWidening",
            ),
            "mapped columns by version": (
                table(
                    column("id", **physical("col-1")), reader=2, configuration=MAPPED
                ),
                "columnMapping",
            ),
            "a mapped nested column by feature": (
                table(
                    column("s", StructType((column("x", **physical("col-2")),))),
                    reader=3,
                    features=["columnMapping"],
                    configuration=MAPPED,
                ),
                "columnMapping",
            ),
            "columns by their ids": (
                table(reader=2, configuration={"delta.columnMapping.mode": "id"}),
                "columnMapping",
            ),
            "a catalog's table": (
                table(reader=3, features=["catalogManaged"]),
                "catalogManaged",
            ),
            "an unknown feature": (
                table(reader=3, features=["tableTeleport"]),
                "tableTeleport",
            ),
        },
    )
    def test_name_the_feature_that_is_used(self, facts: dict[str, Any], feature: str):
        (misreading,) = found(facts)

        assert misreading.feature == feature
        assert misreading.reason.endswith(".")

    @cases(
        "facts",
        {
            "mapped to their own names": table(
                column("id", **physical("id")), reader=2, configuration=MAPPED
            ),
            "a protocol that knows no mapping": table(
                column("id", **physical("col-1")), configuration=MAPPED
            ),
        },
    )
    def test_of_columns_that_go_by_their_names_are_none(self, facts: dict[str, Any]):
        assert found(facts) == []

    def test_count_deletion_vectors_that_a_file_has(self) -> None:
        facts = table(reader=3, features=["deletionVectors"])

        (misreading,) = found(facts, vectors=True)

        assert misreading.feature == "deletionVectors"

    @pytest.mark.parametrize(("switch", "count"), [("true", 1), ("false", 0), ("", 0)])
    def test_ask_the_property_where_nobody_looked_at_the_files(self, switch, count):
        facts = table(
            reader=3,
            features=["deletionVectors"],
            configuration={"delta.enableDeletionVectors": switch},
        )

        assert len(found(facts, vectors=None)) == count

    def test_name_a_few_columns_of_many(self) -> None:
        columns = [column(f"at{n}", NTZ) for n in range(5)]

        (misreading,) = found(table(*columns))

        assert "columns 'at0', 'at1', 'at2' and 2 more" in misreading.reason

    def test_come_one_for_each_feature(self) -> None:
        facts = table(
            column("at", NTZ),
            column("v", VARIANT),
            reader=3,
            features=["timestampNtz", "variantType", "other"],
        )

        features = [misreading.feature for misreading in found(facts, vectors=True)]

        assert features == ["deletionVectors", "timestampNtz", "variantType", "other"]

    @pytest.mark.parametrize(
        "feature", [f.name for f in FEATURES.values() if f.reading is Reading.UNCHANGED]
    )
    def test_of_what_changes_nothing_for_a_reader_are_none(self, feature: str) -> None:
        assert found(table(reader=3, features=[feature])) == []
