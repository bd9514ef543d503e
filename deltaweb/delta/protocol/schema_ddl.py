"""Columns as people write them: `id BIGINT NOT NULL COMMENT 'key', tags ARRAY<STRING>`.

The types are those of Spark's SQL, with the words that it takes for them.

Source: Spark SQL, "Data Types"; delta_protocol.md, "Schema Serialization Format" and
"Identity Columns".
"""

import re
from collections.abc import Callable
from typing import Any, Final, NoReturn

from deltaweb.delta.errors import SchemaError
from deltaweb.delta.protocol.schema import (
    MAX_DECIMAL_PRECISION,
    MAX_NESTING_DEPTH,
    ArrayType,
    DataType,
    DecimalType,
    MapType,
    PrimitiveType,
    StructField,
    StructType,
)
from deltaweb.delta.protocol.schema.field_keys import START, STEP, TAKES_VALUES

MAX_DDL_LENGTH: Final = 1 << 20
PRIMITIVES: Final = {
    "bigint": "long",
    "binary": "binary",
    "boolean": "boolean",
    "byte": "byte",
    "date": "date",
    "double": "double",
    "float": "float",
    "int": "integer",
    "integer": "integer",
    "long": "long",
    "real": "float",
    "short": "short",
    "smallint": "short",
    "string": "string",
    "timestamp": "timestamp",
    "timestamp_ltz": "timestamp",
    "timestamp_ntz": "timestamp_ntz",
    "tinyint": "byte",
}
DECIMALS: Final = {"decimal", "dec", "numeric"}
TEXTS: Final = {"varchar", "char", "character"}
_TOKEN = re.compile(
    r"""\s*(?:
        (?P<name>[^\W\d]\w*|\d+[^\W\d]\w*)
      | `(?P<quoted>(?:[^`]|``)+)`
      | '(?P<text>(?:[^'\\]|\\.|'')*)'
      | (?P<number>\d+)
      | (?P<negative>-\d+)
      | (?P<sign>[<>(),:])
    )""",
    re.VERBOSE,
)
HINT: Final = "Write columns as in: id BIGINT NOT NULL, day DATE."
_ESCAPED = re.compile(r"\\(.)|''", re.DOTALL)


def parse_columns_ddl(text: str) -> tuple[StructField, ...]:
    parser = _Parser(text)
    columns = parser.columns(parser.end, separator="", depth=0)
    if not columns:
        parser.fail("a column is missing")
    return columns


def parse_type_ddl(text: str) -> DataType:
    """Return the type that a text of DDL spells: `DECIMAL(10, 2)`, `ARRAY<STRING>`."""
    parser = _Parser(text)
    data_type = parser.type(0)
    if not parser.end():
        parser.fail("the type is already complete")
    return data_type


class _Parser:
    def __init__(self, text: str) -> None:
        if len(text) > MAX_DDL_LENGTH:
            raise SchemaError(column="", reason="the text is too long", hint=HINT)
        self.tokens: list[tuple[str, str]] = []
        at, rest = 0, text.rstrip()
        while at < len(rest):
            match = _TOKEN.match(rest, at)
            if match is None or match.lastgroup is None:
                found = rest[at : at + 20].strip()
                raise SchemaError(
                    column="", reason=f"{found!r} is not a part of a column", hint=HINT
                )
            self.tokens.append((match.lastgroup, match[match.lastgroup]))
            at = match.end()
        self.at = 0

    # === Tokens ===

    def end(self) -> bool:
        return self.at >= len(self.tokens)

    def fail(self, reason: str) -> NoReturn:
        found = "the end" if self.end() else repr(self.tokens[self.at][1][:80])
        raise SchemaError(column="", reason=f"{reason}, at {found}", hint=HINT)

    def takes(self, *words: str) -> bool:
        following = self.tokens[self.at : self.at + len(words)]
        if [token.lower() for kind, token in following if kind in _PLAIN] != [*words]:
            return False
        self.at += len(words)
        return True

    def expect(self, sign: str) -> None:
        if not self.takes(sign):
            self.fail(f"{sign!r} is missing")

    def value(self, *kinds: str) -> str:
        if self.end() or self.tokens[self.at][0] not in kinds:
            self.fail(f"a {kinds[0]} is missing")
        self.at += 1
        return self.tokens[self.at - 1][1]

    # === Columns and types ===

    def columns(
        self, is_over: Callable[[], bool], *, separator: str, depth: int
    ) -> tuple[StructField, ...]:
        """Read columns up to an end; of a struct with a colon before the type."""
        fields: list[StructField] = []
        while not is_over():
            if fields:
                self.expect(",")
            fields.append(self.column(separator, depth))
        names = [field.name.lower() for field in fields]
        for name in names:
            if names.count(name) > 1:
                raise SchemaError(column=name, reason="it is listed twice", hint=HINT)
        return tuple(fields)

    def column(self, separator: str, depth: int) -> StructField:
        name = self.value("name", "quoted", "number").replace("``", "`")
        if separator:
            self.takes(separator)
        data_type = self.type(depth)
        nullable = True
        metadata: dict[str, Any] = {}
        while True:
            if self.takes("not", "null"):
                nullable = False
            elif not separator and self.takes("generated"):
                metadata |= self.identity()
            elif self.takes("comment"):
                text = self.value("text")
                metadata["comment"] = _ESCAPED.sub(lambda m: m[1] or "'", text)
            else:
                return StructField(name, data_type, nullable, metadata)

    def identity(self) -> dict[str, Any]:
        takes_values = self.takes("by", "default")
        if not takes_values and not self.takes("always"):
            self.fail("ALWAYS or BY DEFAULT is missing")
        if not self.takes("as", "identity"):
            self.fail("AS IDENTITY is missing")
        said: dict[str, Any] = {START: 1, STEP: 1, TAKES_VALUES: takes_values}
        if self.takes("("):
            while not self.takes(")"):
                if self.takes("start", "with"):
                    said[START] = int(self.value("number", "negative")[:20])
                elif self.takes("increment", "by"):
                    said[STEP] = int(self.value("number", "negative")[:20])
                elif not self.takes(","):
                    self.fail("START WITH or INCREMENT BY is missing")
        return said

    def type(self, depth: int) -> DataType:
        if depth > MAX_NESTING_DEPTH:
            raise SchemaError(
                column="", reason="its types are nested too deeply", hint=HINT
            )
        word = self.value("name").lower()
        match word:
            case "array":
                self.expect("<")
                element = self.type(depth + 1)
                self.expect(">")
                return ArrayType(element)
            case "map":
                self.expect("<")
                key = self.type(depth + 1)
                self.expect(",")
                value = self.type(depth + 1)
                self.expect(">")
                return MapType(key, value)
            case "struct":
                self.expect("<")
                fields = self.columns(
                    lambda: self.takes(">"), separator=":", depth=depth + 1
                )
                return StructType(fields)
        if word in DECIMALS:
            return self.decimal()
        if word in TEXTS:
            self.expect("(")
            length = self.value("number")
            self.expect(")")
            return PrimitiveType(
                "string", f"{'varchar' if word == 'varchar' else 'char'}({length})"
            )
        if word not in PRIMITIVES:
            self.at -= 1
            self.fail("there is no type of that name")
        return PrimitiveType(PRIMITIVES[word])

    def decimal(self) -> DecimalType:
        """Read precision and scale, 10 and 0 without."""
        precision, scale = 10, 0
        if self.takes("("):
            precision = int(self.value("number")[:9])
            if self.takes(","):
                scale = int(self.value("number")[:9])
            self.expect(")")
        if not 1 <= precision <= MAX_DECIMAL_PRECISION or scale > precision:
            raise SchemaError(
                column="",
                reason=f"a decimal has no precision {precision} and scale {scale}",
                hint=HINT,
            )
        return DecimalType(precision, scale)


_PLAIN: Final = {"name", "sign"}
