"""Texts of a footer, whole: key-value metadata, and the schema as others write it."""

import json
from collections.abc import Iterator
from typing import Final

import pyarrow as pa

from deltaweb.parquet.conversion.arrow import arrow_schema
from deltaweb.parquet.conversion.delta import convert, problems_text
from deltaweb.parquet.conversion.spark import convert as convert_to_spark
from deltaweb.parquet.conversion.spark import stored_schema
from deltaweb.parquet.loading import ParquetFooter

MAX_WRITTEN_NODES: Final = 50_000
"""Nodes of a schema that is written as others write it."""
KEY, DELTA, SPARK, ARROW = "key", "delta", "spark", "arrow"
TEXT_SCHEMA: Final = pa.schema(
    [("kind", pa.string()), ("name", pa.string()), ("text", pa.large_string())]
)
"""Rows of kind `key` in the order of the footer, then one of each other kind; the name
of these is why there is none, if there is none."""


def text_batches(footer: ParquetFooter) -> Iterator[pa.RecordBatch]:
    """Yield the texts of a footer as `TEXT_SCHEMA`."""
    for key, value in footer.metadata.key_values:
        yield _batch(KEY, key, value)
    if len(footer.metadata.elements) > MAX_WRITTEN_NODES:
        reason = f"it has more than {MAX_WRITTEN_NODES:,} nodes"
        for kind in (DELTA, SPARK, ARROW):
            yield _batch(kind, reason, None)
        return
    yield _batch(DELTA, *_delta(footer))
    yield _batch(SPARK, *_spark(footer))
    yield _batch(ARROW, *_arrow(footer))


def _batch(kind: str, name: str, text: str | None) -> pa.RecordBatch:
    row = {"kind": kind, "name": name, "text": text}
    return pa.RecordBatch.from_pylist([row], TEXT_SCHEMA)


def _delta(footer: ParquetFooter) -> tuple[str, str | None]:
    made = convert(footer.root)
    if made.nullable is None:
        return problems_text(made.problems), None
    return "", json.dumps(made.nullable, indent=2, ensure_ascii=False)


def _spark(footer: ParquetFooter) -> tuple[str, str | None]:
    found = stored_schema(footer)
    if found is None:
        found, problems = convert_to_spark(footer.root)
        if found is None:
            return problems_text(problems), None
    return "", json.dumps(found, indent=2, ensure_ascii=False)


def _arrow(footer: ParquetFooter) -> tuple[str, str | None]:
    try:
        return "", str(arrow_schema(footer.root))
    except (pa.ArrowException, ValueError, OverflowError) as error:
        return f"Arrow has no such schema: {error}", None
