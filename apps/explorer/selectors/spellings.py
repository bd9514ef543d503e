"""A schema as code, ready to be copied: DDL, JSON, Spark, pyarrow."""

import json
from dataclasses import dataclass
from functools import lru_cache

from apps.tables.models import MetadataVersion
from deltaweb.delta import schema_text
from deltaweb.delta.errors import SchemaError
from deltaweb.delta.schema import parse_schema

MAX_CODE_LENGTH = 200_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Spelling:
    """The schema in one language."""

    name: str  # of the language, as a tab says it
    slug: str
    code: str


def spellings(metadata: MetadataVersion, table_name: str) -> tuple[Spelling, ...]:
    """Return the schema in each language; none where it cannot be read."""
    return _spellings(
        metadata.schema_string, tuple(metadata.partition_columns), table_name
    )


@lru_cache(maxsize=16)
def _spellings(
    schema_string: str, partition_columns: tuple[str, ...], table_name: str
) -> tuple[Spelling, ...]:
    try:
        schema = parse_schema(schema_string)
        codes = (
            ("DDL", schema_text.ddl(schema, table_name, partition_columns)),
            ("Spark", schema_text.spark(schema)),
            ("pyarrow", schema_text.pyarrow(schema)),
        )
    except SchemaError:
        return ()
    pretty = json.dumps(json.loads(schema_string), indent=2, ensure_ascii=False)
    return tuple(
        Spelling(name=name, slug=name.lower(), code=code[:MAX_CODE_LENGTH])
        for name, code in (*codes, ("JSON", pretty))
    )
