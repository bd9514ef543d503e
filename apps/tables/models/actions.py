"""The metadata and the protocol of a table: one row for each version that set them.

Every process loads the models, and most commands read no log: what does loads Arrow.
"""

from typing import TYPE_CHECKING

from django.db import models
from django.utils.functional import cached_property

from apps.tables.models.wide_schemas import WideSchema, too_wide
from deltaweb.delta import features, protocol

if TYPE_CHECKING:
    from deltaweb.delta.protocol.actions import Metadata, Protocol
    from deltaweb.delta.protocol.schema import StructType


class MetadataVersion(models.Model):
    """The metadata of a table from one version on, until the next row.

    A schema that is too wide for a page is not here but in a `WideSchema`, so that
    no page that reads this row builds it.
    """

    table = models.ForeignKey(
        "tables.Table", models.CASCADE, related_name="metadata_versions"
    )
    version = models.BigIntegerField()
    metadata_id = models.CharField(max_length=200, blank=True)
    metadata_name = models.TextField(blank=True)
    description = models.TextField(blank=True)
    format_provider = models.CharField(max_length=100, blank=True)
    schema_string = models.TextField(blank=True)  # empty where it is too wide
    wide_schema_digest = models.CharField(max_length=64, blank=True)
    partition_columns = models.JSONField(default=list, blank=True)
    configuration = models.JSONField(default=dict, blank=True)
    created_time = models.BigIntegerField(null=True, blank=True)  # ms since the epoch

    class Meta:
        ordering = ["-version"]
        constraints = [
            models.UniqueConstraint(
                fields=["table", "version"], name="metadata_unique_version"
            )
        ]

    def __str__(self) -> str:
        return f"metadata {self.table_id}@{self.version}"

    # === Queries ===

    @property
    def has_schema(self) -> bool:
        """Whether the log tells a schema, however wide."""
        return bool(self.schema_string or self.wide_schema_digest)

    @cached_property
    def wide_schema(self) -> WideSchema | None:
        """The counts of a schema that is too wide; None for any other."""
        if not self.wide_schema_digest:
            return None
        found = WideSchema.objects.filter(
            table=self.table_id, digest=self.wide_schema_digest
        )
        return found.defer("schema_string").first()

    def as_action(self) -> "Metadata":
        """Return the row as the action that it was; a wide schema is not in it."""
        return protocol.actions.Metadata(
            id=self.metadata_id or None,
            name=self.metadata_name or None,
            description=self.description or None,
            format=protocol.actions.Format(provider=self.format_provider or "parquet"),
            schema_string=self.schema_string or None,
            partition_columns=[str(name) for name in self.partition_columns],
            configuration=self.configuration or {},
            created_time=self.created_time,
        )

    def schema(self) -> "StructType":
        """Return the schema as values."""
        if not self.wide_schema_digest:
            return protocol.schema.parse_schema(self.schema_string)
        raise too_wide(self.wide_schema)

    def mapped_schema(self, held: "ProtocolVersion | None") -> "StructType":
        """Return the schema as values that know what columns are stored as.

        Args:
            held: The protocol that holds together with the metadata.
        """
        if held is None or self.wide_schema_digest:
            return self.schema()
        table_schema = features.column_mapping.table_schema
        return table_schema(held.as_action(), self.as_action())


class ProtocolVersion(models.Model):
    """The protocol of a table from one version on, until the next row."""

    table = models.ForeignKey(
        "tables.Table", models.CASCADE, related_name="protocol_versions"
    )
    version = models.BigIntegerField()
    min_reader_version = models.IntegerField()
    min_writer_version = models.IntegerField()
    reader_features = models.JSONField(null=True, blank=True)
    writer_features = models.JSONField(null=True, blank=True)
    unsupported_reason = models.TextField(blank=True)  # a sentence, or ""

    class Meta:
        ordering = ["-version"]
        constraints = [
            models.UniqueConstraint(
                fields=["table", "version"], name="protocol_unique_version"
            )
        ]

    def __str__(self) -> str:
        return f"protocol {self.table_id}@{self.version}"

    def as_action(self) -> "Protocol":
        """Return the row as the action that it was."""
        return protocol.actions.Protocol(
            min_reader_version=self.min_reader_version,
            min_writer_version=self.min_writer_version,
            reader_features=self.reader_features,
            writer_features=self.writer_features,
        )
