import pytest

from deltaweb.delta.errors import LogCorruptError
from deltaweb.delta.protocol.action_values import parse_metadata, parse_protocol
from deltaweb.delta.protocol.actions import CommitInfo, Format, Metadata, Protocol

PATH = "0.json"


class TestMetadata:
    def test_takes_every_field(self) -> None:
        raw = {
            "id": "t",
            "name": "n",
            "description": "d",
            "format": {"provider": "parquet", "options": {"a": "b"}},
            "schemaString": "{}",
            "partitionColumns": ["p"],
            "configuration": {"k": "v"},
            "createdTime": 5,
            "unknown": [],
        }

        assert parse_metadata(raw, path=PATH) == Metadata(
            id="t",
            name="n",
            description="d",
            format=Format(provider="parquet", options={"a": "b"}),
            schema_string="{}",
            partition_columns=["p"],
            configuration={"k": "v"},
            created_time=5,
        )

    def test_leaves_out_what_the_log_leaves_out(self) -> None:
        metadata = parse_metadata({}, path=PATH)

        assert metadata == Metadata(id=None, partition_columns=[])
        assert str(metadata.format) == "parquet"

    def test_takes_maps_as_pairs(self) -> None:
        raw = {"configuration": [("k", "v")], "format": {"options": [("a", "b")]}}

        metadata = parse_metadata(raw, path=PATH)

        assert metadata.configuration == {"k": "v"}
        assert metadata.format.options == {"a": "b"}

    def test_takes_maps_as_structs_of_key_and_value(self) -> None:
        pairs = [{"key": "k", "value": "v"}, {"key": "other", "value": "w"}]

        metadata = parse_metadata({"configuration": pairs}, path=PATH)

        assert metadata.configuration == {"k": "v", "other": "w"}

    def test_takes_properties_that_are_not_text_as_their_text(self) -> None:
        raw = {"configuration": {"a": True, "b": 7, "c": None}}

        assert parse_metadata(raw, path=PATH).configuration == {"a": "true", "b": "7"}

    @pytest.mark.parametrize(
        "raw",
        [
            {"id": 1},
            {"schemaString": {}},
            {"partitionColumns": "p"},
            {"partitionColumns": [1]},
            {"configuration": [1]},
            {"configuration": "x"},
            {"configuration": ["kv"]},
            {"format": "parquet"},
            {"createdTime": "now"},
            {"createdTime": True},
        ],
    )
    def test_names_a_field_of_another_type(self, raw: dict[str, object]) -> None:
        (field,) = raw

        with pytest.raises(LogCorruptError, match=field):
            parse_metadata(raw, path=PATH)


class TestProtocol:
    def test_takes_versions_and_features(self) -> None:
        raw = {
            "minReaderVersion": 3,
            "minWriterVersion": 7.0,
            "readerFeatures": ["a"],
            "writerFeatures": ["a", "b"],
        }

        assert parse_protocol(raw, path=PATH) == Protocol(
            min_reader_version=3,
            min_writer_version=7,
            reader_features=["a"],
            writer_features=["a", "b"],
        )

    def test_has_no_features_where_the_log_has_none(self) -> None:
        raw = {"minReaderVersion": 1, "minWriterVersion": 2}

        assert parse_protocol(raw, path=PATH).reader_features is None

    @pytest.mark.parametrize(
        "raw",
        [
            {},
            {"minReaderVersion": 1},
            {"minReaderVersion": "1", "minWriterVersion": 2},
            {"minReaderVersion": 1.5, "minWriterVersion": 2},
            {"minReaderVersion": 3, "minWriterVersion": 7, "readerFeatures": "x"},
        ],
    )
    def test_names_a_fault(self, raw: dict[str, object]) -> None:
        with pytest.raises(LogCorruptError, match=r"protocol\."):
            parse_protocol(raw, path=PATH)


class TestCommitInfo:
    def test_takes_what_is_well_formed(self) -> None:
        raw = {
            "operation": "WRITE",
            "operationParameters": {"mode": "Append", "n": [1]},
            "operationMetrics": {"numFiles": "1"},
            "engineInfo": "engine",
            "userName": "ada",
        }

        info = CommitInfo.from_raw(raw, version=3, timestamp_ms=1500)

        assert (info.version, info.operation, info.user) == (3, "WRITE", "ada")
        assert info.timestamp.isoformat() == "1970-01-01T00:00:01.500000+00:00"
        assert info.parameters == {"mode": "Append", "n": [1]}
        assert info.metrics == {"numFiles": "1"}
        assert info.raw == raw

    def test_holds_any_json(self) -> None:
        raw = {"operation": 7, "operationParameters": "x", "userId": "u"}

        info = CommitInfo.from_raw(raw, version=0, timestamp_ms=0)

        assert (info.operation, info.parameters, info.user) == ("7", {}, "u")

    def test_may_be_missing(self) -> None:
        info = CommitInfo.from_raw(None, version=0, timestamp_ms=0)

        assert (info.operation, info.raw, info.metrics) == (None, None, {})
