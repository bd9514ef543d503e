"""Rows of metaData and protocol as the actions that they were."""

from apps.tables.models import MetadataVersion, ProtocolVersion
from deltaweb.delta.protocol.actions import Metadata, Protocol


def test_metadata_keeps_every_field_that_the_log_had() -> None:
    row = MetadataVersion(
        metadata_id="m1",
        metadata_name="orders",
        description="All of them",
        format_provider="parquet",
        schema_string="{}",
        partition_columns=["day"],
        configuration={"delta.appendOnly": "true"},
        created_time=7,
    )

    assert row.as_action() == Metadata(
        id="m1",
        name="orders",
        description="All of them",
        schema_string="{}",
        partition_columns=["day"],
        configuration={"delta.appendOnly": "true"},
        created_time=7,
    )


def test_what_the_log_left_out_is_none() -> None:
    assert MetadataVersion().as_action() == Metadata(id=None, partition_columns=[])


def test_a_protocol_keeps_its_features() -> None:
    row = ProtocolVersion(
        min_reader_version=3, min_writer_version=7, reader_features=["v2Checkpoint"]
    )

    assert row.as_action() == Protocol(
        min_reader_version=3, min_writer_version=7, reader_features=["v2Checkpoint"]
    )
