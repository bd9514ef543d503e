"""A schema as code, ready to be copied: DDL, JSON, Spark, pyarrow."""

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Final

from deltaweb.delta.errors import SchemaError
from deltaweb.delta.protocol import schema_text
from deltaweb.delta.protocol.schema import StructType, format_schema, parse_schema
from deltaweb.web.tables.models import MetadataVersion

MAX_CODE_LENGTH: Final = 12_000  # that a page shows; the download has all of it
KEPT_SCHEMAS: Final = 16


@dataclass(frozen=True, slots=True, kw_only=True)
class Spelling:
    """The schema in one language, as much of it as a page shows."""

    name: str  # of the language, as a tab says it
    slug: str
    code: str
    is_cut: bool


Speller = Callable[[StructType, str, tuple[str, ...]], str]

LANGUAGES: Final[Mapping[str, tuple[str, Speller]]] = {
    "ddl": ("DDL", schema_text.ddl),
    "spark": ("Spark", lambda schema, *_: schema_text.spark(schema)),
    "pyarrow": ("pyarrow", lambda schema, *_: schema_text.pyarrow(schema)),
    "json": ("JSON", lambda schema, *_: _pretty(schema)),
}


def spellings(metadata: MetadataVersion, table_name: str) -> tuple[Spelling, ...]:
    """Return the schema in each language; none where it cannot be read or shown."""
    if metadata.wide_schema_digest:
        return ()
    return _spellings(
        metadata.schema_string, tuple(metadata.partition_columns), table_name
    )


def spelled(metadata: MetadataVersion, table_name: str, language: str) -> str:
    """Return the whole schema in one of `LANGUAGES`.

    Raises:
        SchemaError: It cannot be read, or is too wide.
    """
    _, spell = LANGUAGES[language]
    return spell(metadata.schema(), table_name, tuple(metadata.partition_columns))


@lru_cache(maxsize=KEPT_SCHEMAS)
def _spellings(
    schema_string: str, partition_columns: tuple[str, ...], table_name: str
) -> tuple[Spelling, ...]:
    try:
        schema = parse_schema(schema_string)
    except SchemaError:
        return ()
    codes = (
        (slug, name, spell(schema, table_name, partition_columns))
        for slug, (name, spell) in LANGUAGES.items()
    )
    return tuple(
        Spelling(
            name=name,
            slug=slug,
            code=code[:MAX_CODE_LENGTH],
            is_cut=len(code) > MAX_CODE_LENGTH,
        )
        for slug, name, code in codes
    )


def _pretty(schema: StructType) -> str:
    return json.dumps(json.loads(format_schema(schema)), indent=2, ensure_ascii=False)
