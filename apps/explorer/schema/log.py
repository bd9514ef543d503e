"""The schema of a version as the log writes it, in pieces of a bounded length."""

from collections.abc import Iterator
from typing import Final

from django.db.models.functions import Substr

from apps.tables.models import MetadataVersion, WideSchema

PIECE_LENGTH: Final = 1_000_000  # characters
MAX_INLINE_LENGTH: Final = 64_000  # characters of a schema inside another document


def schema_pieces(metadata: MetadataVersion) -> Iterator[str]:
    """Yield the text of a schema; one that is too wide is never in memory whole."""
    if not metadata.wide_schema_digest:
        yield metadata.schema_string
        return
    rows = WideSchema.objects.filter(
        table=metadata.table_id, digest=metadata.wide_schema_digest
    )
    start = 1
    while True:
        piece = Substr("schema_string", start, PIECE_LENGTH)
        text = rows.values_list(piece, flat=True).first()
        if not text:
            return
        yield text
        start += PIECE_LENGTH


def inline_schema(metadata: MetadataVersion) -> str | None:
    """Return a schema as another document holds it; None where it is long.

    The schema's own address has it, however long.
    """
    text = metadata.schema_string
    return text if text and len(text) <= MAX_INLINE_LENGTH else None
