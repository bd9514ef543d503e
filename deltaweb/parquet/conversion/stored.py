"""The schema that Spark left in a footer, as a Delta schema.

It comes from outside like all of a footer: what is no schema is skipped, and the
Parquet schema says what the file holds; what Delta has no type for is a problem of its
column.

Source: Delta protocol, "Schema Serialization Format".
"""

import re
from collections.abc import Mapping
from contextlib import suppress
from typing import Any, Final

from deltaweb.parquet.conversion import spark
from deltaweb.parquet.conversion.delta import (
    MAX_DECIMAL_DIGITS,
    SPECIAL_CHARACTERS,
    ColumnProblem,
    DeltaConversion,
    DeltaType,
    convert,
)
from deltaweb.parquet.conversion.spark import stored_schema
from deltaweb.parquet.loading import ParquetFooter

MAX_DEPTH: Final = 100
_PRIMITIVES: Final = frozenset(
    [
        *("string", "long", "integer", "short", "byte", "float", "double", "boolean"),
        *("binary", "date", "timestamp", "timestamp_ntz", "variant", "void"),
    ]
)
_FEATURES: Final[Mapping[str, str]] = {
    "timestamp_ntz": "timestampNtz",
    "variant": "variantType",
}
_COLLECTIONS: Final[Mapping[str, tuple[Mapping[str, str], str]]] = {
    "array": ({"elementType": "element"}, "containsNull"),
    "map": ({"keyType": "key", "valueType": "value"}, "valueContainsNull"),
}
_OTHER_NAMES: Final[Mapping[str, str]] = {"null": "void", "decimal": "decimal(10,0)"}
_DECIMAL: Final = re.compile(r"decimal\((\d{1,3}),\s*(\d{1,3})\)", re.ASCII)
_SHORT_TEXT: Final = re.compile(r"(?:var)?char\(\d{1,10}\)", re.ASCII)
_MAX_SHOWN: Final = 80


class _NoSchemaError(ValueError):
    """The JSON is no schema."""


def convert_file(footer: ParquetFooter) -> DeltaConversion:
    """Convert the schema of a file: Spark's own where it left one, else Parquet's."""
    stored = stored_schema(footer)
    if stored is not None:
        with suppress(_NoSchemaError):
            return _convert_stored(stored)
    return convert(footer.root)


def convert_file_for_spark(footer: ParquetFooter) -> DeltaConversion:
    """Convert the schema of a file to Spark's: its own where it left one."""
    stored = stored_schema(footer)
    if stored is not None:
        with suppress(_NoSchemaError):
            schema = _Walk(keeps_types=True).struct(stored, ())
            return DeltaConversion(schema, (), (), ())
    made, problems = spark.convert(footer.root, is_strict=True)
    return DeltaConversion(made, problems, (), ())


def _convert_stored(stored: Mapping[str, Any]) -> DeltaConversion:
    walk = _Walk()
    schema = walk.struct(stored, ())
    if not schema["fields"]:
        walk.problems.append(ColumnProblem((), "no columns"))
    problems = tuple(walk.problems)
    return DeltaConversion(
        strict=None if problems else schema,
        problems=problems,
        features=tuple(walk.features),
        mapped_columns=() if problems else tuple(walk.mapped_columns),
    )


class _Walk:
    """Goes through the JSON of a schema, and keeps what Delta cannot hold of it."""

    def __init__(self, *, keeps_types: bool = False) -> None:
        self.keeps_types = keeps_types
        self.problems: list[ColumnProblem] = []
        self.features: list[str] = []
        self.mapped_columns: list[tuple[str, ...]] = []

    def struct(self, stored: Mapping[str, Any], path: tuple[str, ...]) -> DeltaType:
        fields = stored.get("fields")
        if not isinstance(fields, list):
            raise _NoSchemaError
        known: set[str] = set()
        made = []
        for field in fields:
            if not isinstance(field, dict) or not isinstance(field.get("name"), str):
                raise _NoSchemaError
            name, metadata = field["name"], field.get("metadata", {})
            own = (*path, name)
            if not isinstance(metadata, dict):
                raise _NoSchemaError
            if name.lower() in known and not self.keeps_types:
                reason = "duplicate column name (Delta names are case-insensitive)"
                self._refuse(own, reason)
            known.add(name.lower())
            if SPECIAL_CHARACTERS & set(name):
                self.mapped_columns.append(own)
            made.append(
                {
                    "name": name,
                    "type": self.type_of(field.get("type"), own),
                    "nullable": _flag(field, "nullable"),
                    "metadata": metadata,
                }
            )
        return {"type": "struct", "fields": made}

    def type_of(self, stored: object, path: tuple[str, ...]) -> DeltaType:
        if len(path) > MAX_DEPTH:
            raise _NoSchemaError
        if isinstance(stored, str):
            return self._primitive(stored, path)
        if not isinstance(stored, dict):
            raise _NoSchemaError
        match stored.get("type"):
            case "struct" if stored.get("fields") != [] or self.keeps_types:
                return self.struct(stored, path)
            case "struct":
                reason = "a struct with no fields has no Delta type"
            case "array" | "map" as kind:
                return self._collection(kind, stored, path)
            case str(other):
                reason = f"Spark's type {other[:_MAX_SHOWN]} has no Delta type"
            case _:
                raise _NoSchemaError
        return stored if self.keeps_types else self._refuse(path, reason)

    def _collection(
        self, kind: str, stored: Mapping[str, Any], path: tuple[str, ...]
    ) -> DeltaType:
        names, flag = _COLLECTIONS[kind]
        made = {
            key: self.type_of(stored.get(key), (*path, name))
            for key, name in names.items()
        }
        return {"type": kind, **made, flag: _flag(stored, flag)}

    def _primitive(self, name: str, path: tuple[str, ...]) -> DeltaType:
        if self.keeps_types:
            return name
        name = _OTHER_NAMES.get(name, name)
        if _SHORT_TEXT.fullmatch(name):
            return "string"
        if (parts := _DECIMAL.fullmatch(name)) is not None:
            precision, scale = int(parts[1]), int(parts[2])
            if 0 < precision <= MAX_DECIMAL_DIGITS and scale <= precision:
                return f"decimal({precision},{scale})"
        elif name in _PRIMITIVES:
            feature = _FEATURES.get(name)
            if feature is not None and feature not in self.features:
                self.features.append(feature)
            return name
        return self._refuse(path, f"Spark's type {name[:_MAX_SHOWN]} has no Delta type")

    def _refuse(self, path: tuple[str, ...], reason: str) -> None:
        self.problems.append(ColumnProblem(path, reason))


def _flag(stored: Mapping[str, Any], name: str) -> bool:
    flag = stored.get(name, True)
    if not isinstance(flag, bool):
        raise _NoSchemaError
    return flag
