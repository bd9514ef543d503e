"""What each feature of a table is, whether it is used, and who reads it."""

from collections.abc import Mapping
from typing import Any

import pytest

from deltaweb.delta.features.known.clients import (
    CANNOT,
    LOG,
    READS,
    UNKNOWN,
    Answer,
    Support,
    clients_of,
)
from deltaweb.delta.features.known.described import describe_feature
from deltaweb.delta.features.known.readings import ClientVerdict, client_verdict
from deltaweb.delta.features.known.table_features import table_features
from deltaweb.delta.features.known.usage import Usage, VersionFacts
from deltaweb.delta.features.registry import FEATURES
from deltaweb.delta.protocol.actions import Metadata, Protocol
from deltaweb.delta.protocol.schema import (
    ArrayType,
    MapType,
    PrimitiveType,
    StructField,
    StructType,
)

LONG = PrimitiveType("long")
NTZ = PrimitiveType("timestamp_ntz")


def protocol(reader: int, writer: int, names: tuple[str, ...] | None) -> Protocol:
    return Protocol(
        min_reader_version=reader,
        min_writer_version=writer,
        reader_features=names,
        writer_features=names,
    )


def features_of(*names, columns=(), configuration=None, vectors=None):
    facts = VersionFacts(
        protocol(3, 7, names),
        Metadata(id="t", configuration=configuration or {}),
        StructType(columns),
        vectors,
    )
    return {feature.name: feature for feature in table_features(facts)}


def marked(**metadata: Any) -> StructField:  # noqa: ANN401 (any JSON)
    return StructField("n", LONG, metadata=metadata)


class TestUsage:
    @pytest.mark.parametrize(
        ("name", "configuration"),
        [
            ("columnMapping", {"delta.columnMapping.mode": "name"}),
            ("inCommitTimestamp", {"delta.enableInCommitTimestamps": "true"}),
            ("v2Checkpoint", {"delta.checkpointPolicy": "v2"}),
            ("appendOnly", {"delta.appendOnly": "TRUE"}),
            ("changeDataFeed", {"delta.enableChangeDataFeed": "true"}),
            ("rowTracking", {"delta.enableRowTracking": "true"}),
            ("checkConstraints", {"delta.constraints.positive": "n > 0"}),
            ("icebergCompatV2", {"delta.enableIcebergCompatV2": "true"}),
        ],
    )
    def test_is_told_by_properties(self, name: str, configuration: Mapping[str, str]):
        assert features_of(name)[name].usage is Usage.IDLE
        used = features_of(name, configuration=configuration)
        assert used[name].usage is Usage.USED

    @pytest.mark.parametrize(
        ("name", "column"),
        [
            ("typeWidening", marked(**{"delta.typeChanges": []})),
            ("typeWidening-preview", marked(**{"delta.typeChanges": []})),
            ("timestampNtz", StructField("at", NTZ)),
            ("timestampNtz", StructField("at", ArrayType(MapType(LONG, NTZ)))),
            (
                "timestampNtz",
                StructField("s", ArrayType(StructType((StructField("at", NTZ),)))),
            ),
            ("variantType", StructField("v", PrimitiveType("variant"))),
            ("generatedColumns", marked(**{"delta.generationExpression": "a + 1"})),
            ("identityColumns", marked(**{"delta.identity.step": 1})),
            ("allowColumnDefaults", marked(CURRENT_DEFAULT="1")),
        ],
    )
    def test_is_told_by_the_schema(self, name: str, column: StructField) -> None:
        assert features_of(name)[name].usage is Usage.IDLE
        assert features_of(name, columns=(column,))[name].usage is Usage.USED

    @pytest.mark.parametrize(
        ("vectors", "usage"), [(None, Usage.UNKNOWN), (0, Usage.IDLE), (3, Usage.USED)]
    )
    def test_of_vectors_is_told_by_files(self, vectors: int | None, usage: Usage):
        found = features_of("deletionVectors", vectors=vectors)

        assert found["deletionVectors"].usage is usage

    def test_of_a_schema_that_does_not_parse_is_not_known(self) -> None:
        facts = VersionFacts(protocol(3, 7, ("timestampNtz",)), Metadata(id="t"), None)

        assert table_features(facts)[0].usage is Usage.UNKNOWN


class TestTableFeatures:
    @pytest.mark.parametrize("name", FEATURES)
    def test_have_plain_words(self, name: str) -> None:
        title, meaning = describe_feature(name)

        assert title != name
        assert meaning.endswith(".")

    def test_of_a_name_that_nobody_knows_are_shown_and_not_read(self) -> None:
        found = features_of("tableTeleport")["tableTeleport"]

        assert (found.title, found.is_read, found.is_kept) == (
            "tableTeleport",
            False,
            False,
        )
        assert "No text" in found.meaning

    def test_are_those_of_the_versions_where_there_is_no_list(self) -> None:
        facts = VersionFacts(protocol(2, 5, None), Metadata(id="t"), StructType(()))

        found = {feature.name: feature for feature in table_features(facts)}

        assert found["columnMapping"].for_readers
        assert not found["changeDataFeed"].for_readers
        assert found["appendOnly"].is_idle

    def test_say_what_is_done_with_them(self) -> None:
        found = features_of("catalogManaged")["catalogManaged"].describe()

        assert found["deltaweb"] == {
            "reads": False,
            "writes": False,
            "checkpoints": False,
        }


class TestClientVerdict:
    def test_of_no_feature_is_any_release(self) -> None:
        assert client_verdict([], {}) == ClientVerdict(Answer.READS)

    def test_is_of_the_newest_release(self) -> None:
        supports = {
            "a": Support(Answer.READS, "9.1 LTS"),
            "b": Support(Answer.READS, "10.4 LTS"),
        }

        verdict = client_verdict(["a", "b"], supports)

        assert verdict == ClientVerdict(Answer.READS, "b", "10.4 LTS")

    def test_names_no_release_where_one_of_them_is_not_known(self) -> None:
        supports = {"a": Support(Answer.READS, "9.1"), "b": READS}

        assert client_verdict(["a", "b"], supports).release == ""

    def test_is_decided_by_what_it_cannot_before_what_is_not_known(self) -> None:
        supports = {"a": READS, "b": UNKNOWN, "c": CANNOT}

        assert client_verdict(["a", "b", "c"], supports).decided_by == "c"
        assert client_verdict(["a", "b"], supports).answer is Answer.UNKNOWN

    @pytest.mark.parametrize("client", clients_of(LOG), ids=lambda client: client.name)
    def test_speaks_of_features_that_have_words(self, client: Any) -> None:  # noqa: ANN401
        assert all(describe_feature(name).title != name for name in client.supports)
