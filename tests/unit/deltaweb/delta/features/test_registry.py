import pytest

from deltaweb.delta.errors import (
    UnsupportedFeatureError,
    UnsupportedProtocolError,
    UnsupportedWriterError,
    UnsupportedWriterFeatureError,
)
from deltaweb.delta.features.column_mapping import has_mapped_columns
from deltaweb.delta.features.elsewhere import WITHOUT_FILES
from deltaweb.delta.features.feature import LogWriting, Reading
from deltaweb.delta.features.registry import (
    FEATURES,
    log_writing_refusal,
    reading_refusal,
)
from deltaweb.delta.protocol.actions import Metadata, Protocol

MAPPED = {"delta.columnMapping.mode": "name"}


def refusal(protocol: Protocol, configuration: dict[str, str] | None = None) -> object:
    metadata = Metadata(id="t", configuration=configuration or {})
    return reading_refusal(protocol, metadata, root="/t", version=3)


def of_version(reader: int, features: list[str] | None = None) -> Protocol:
    return Protocol(
        min_reader_version=reader, min_writer_version=7, reader_features=features
    )


class TestALogWithoutFiles:
    @pytest.mark.parametrize("name", ["icebergNativeV4-preview", "icebergNativeV4"])
    def test_is_refused_by_name_though_only_writers_list_it(self, name: str) -> None:
        found = refusal(
            Protocol(min_reader_version=1, min_writer_version=7, writer_features=[name])
        )

        assert isinstance(found, UnsupportedFeatureError)
        assert found.features == (name,)


class TestReaderVersion:
    @pytest.mark.parametrize("version", [0, 1, 2])
    def test_up_to_two_is_read(self, version: int) -> None:
        assert refusal(of_version(version)) is None

    @pytest.mark.parametrize("version", [4, 5, 2**31])
    def test_above_ours_is_refused(self, version: int) -> None:
        found = refusal(of_version(version, ["appendOnly"]))

        assert isinstance(found, UnsupportedProtocolError)
        assert found.min_reader_version == version
        assert str(version) in found.message

    def test_two_with_mapped_columns_is_read(self) -> None:
        assert refusal(of_version(2), MAPPED) is None

    def test_one_ignores_the_mapping_property(self) -> None:
        assert refusal(of_version(1), MAPPED) is None

    def test_one_has_no_mapped_columns_whatever_the_property(self) -> None:
        metadata = Metadata(id="t", configuration=MAPPED)

        assert not has_mapped_columns(of_version(1), metadata)
        assert not has_mapped_columns(of_version(3, []), metadata)
        assert has_mapped_columns(of_version(2), metadata)
        assert has_mapped_columns(of_version(3, ["columnMapping"]), metadata)

    def test_three_without_a_list_is_refused(self) -> None:
        assert isinstance(refusal(of_version(3)), UnsupportedFeatureError)

    def test_three_with_an_empty_list_is_read(self) -> None:
        assert refusal(of_version(3, [])) is None


class TestReaderFeature:
    @pytest.mark.parametrize(
        "name", [f.name for f in FEATURES.values() if f.reading is Reading.UNCHANGED]
    )
    def test_that_changes_nothing_for_a_reader_is_read(self, name: str) -> None:
        assert refusal(of_version(3, [name]), MAPPED) is None

    @pytest.mark.parametrize(
        "name",
        [
            *(f.name for f in FEATURES.values() if f.reading is Reading.REFUSED),
            "tableTeleport",
            "",
        ],
    )
    def test_that_is_not_read_is_refused_by_name(self, name: str) -> None:
        found = refusal(of_version(3, ["appendOnly", name]))

        assert isinstance(found, UnsupportedFeatureError)
        assert found.features == (name,)
        assert name in found.message

    @pytest.mark.parametrize("mode", ["none", "NONE", "name", "id"])
    def test_column_mapping_is_read(self, mode: str) -> None:
        configuration = {"delta.columnMapping.mode": mode}

        assert refusal(of_version(3, ["columnMapping"]), configuration) is None

    def test_a_writer_feature_never_refuses(self) -> None:
        protocol = Protocol(
            min_reader_version=1,
            min_writer_version=7,
            writer_features=["tableTeleport", "rowTracking"],
        )

        assert refusal(protocol) is None


class TestWritingOfTheLog:
    def refusal(self, writer, features=None, configuration=None):
        found = Protocol(
            min_reader_version=1, min_writer_version=writer, writer_features=features
        )
        return log_writing_refusal(
            found,
            Metadata(id="t", configuration=configuration or {}),
            root="/t",
            version=3,
            operation="no checkpoint",
        )

    @pytest.mark.parametrize("writer", [0, 1, 2, 3, 4, 5, 6])
    def test_versions_that_mean_known_features_are_written(self, writer: int) -> None:
        assert self.refusal(writer) is None

    def test_a_version_above_ours_is_refused(self) -> None:
        found = self.refusal(8, [])

        assert isinstance(found, UnsupportedWriterError)
        assert found.min_writer_version == 8

    def test_seven_without_a_list_is_refused(self) -> None:
        assert isinstance(self.refusal(7), UnsupportedWriterFeatureError)
        assert self.refusal(7, []) is None

    @pytest.mark.parametrize(
        "name",
        [
            *(
                name
                for name, answer in FEATURES.items()
                if answer.log_writing is LogWriting.REFUSED
                and name not in WITHOUT_FILES
            ),
            "neverHeardOf",
        ],
    )
    def test_refused_features_are_named(self, name: str) -> None:
        found = self.refusal(7, ["appendOnly", name])

        assert isinstance(found, UnsupportedWriterFeatureError)
        assert found.features == (name,)

    @pytest.mark.parametrize(
        "name", [n for n, a in FEATURES.items() if not a.refuses_log({}, 3)]
    )
    def test_features_that_a_checkpoint_keeps_are_written(self, name: str) -> None:
        assert self.refusal(7, [name]) is None

    def test_what_is_not_read_is_not_written(self) -> None:
        found = log_writing_refusal(
            of_version(3, ["catalogManaged"]),
            Metadata(id="t"),
            root="/t",
            version=3,
            operation="no checkpoint",
        )

        assert isinstance(found, UnsupportedFeatureError)

    @pytest.mark.parametrize(
        ("policy", "is_written"), [("classic", True), ("v2", True), ("v3", False)]
    )
    def test_the_policy_decides_the_kind(self, policy: str, *, is_written: bool):
        found = self.refusal(2, configuration={"delta.checkpointPolicy": policy})

        assert (found is None) == is_written
