"""Schemas that are too wide for a page: kept apart, so that no page builds one."""

from django.db import models

from deltaweb.delta import protocol
from deltaweb.delta.errors import SchemaTooWideError


class WideSchema(models.Model):
    """A schema that is too wide for a page: its text, and how wide it is.

    Attributes:
        digest: SHA-256 of the text; versions with equal schemas share a row.
    """

    table = models.ForeignKey(
        "tables.Table", models.CASCADE, related_name="wide_schemas"
    )
    digest = models.CharField(max_length=64)
    num_columns = models.PositiveIntegerField()
    num_fields = models.PositiveIntegerField()  # nested ones too
    schema_string = models.TextField()

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["table", "digest"], name="wide_schema_unique_text"
            )
        ]

    def __str__(self) -> str:
        return f"schema of {self.num_columns} columns {self.table_id}"


def too_wide(wide: WideSchema | None) -> SchemaTooWideError:
    """Return why a schema is not built, with its width where that is known."""
    return SchemaTooWideError(
        num_columns=wide.num_columns if wide else 0,
        num_fields=wide.num_fields if wide else 0,
        most=protocol.schema.MAX_SHOWN_FIELDS,
    )
