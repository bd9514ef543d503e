"""A Parquet schema as a Delta schema, or every reason why it cannot be one.

The answer is the JSON of Delta's schema, made without the log: what a Parquet file can
hold is a matter of Parquet.

Source: Delta protocol, "Schema Serialization Format", "Primitive Types"; Parquet
logical types.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, TypeAlias

from deltaweb.parquet.annotations import UNIT_DIGITS, Annotation
from deltaweb.parquet.nesting import NestingError, list_shape, map_shape
from deltaweb.parquet.schema import Node

DeltaType: TypeAlias = Any
"""The JSON of a type: a name, or an object."""
MAX_DECIMAL_DIGITS: Final = 38
SPECIAL_CHARACTERS: Final = frozenset(" ,;{}()\n\t=")
"""Characters of a name that Delta takes only with column mapping."""

_PHYSICAL: Final[Mapping[str, str]] = {
    "BOOLEAN": "boolean",
    "INT32": "integer",
    "INT64": "long",
    "INT96": "timestamp",
    "FLOAT": "float",
    "DOUBLE": "double",
    "BYTE_ARRAY": "binary",
    "FIXED_LEN_BYTE_ARRAY": "binary",
}
_ANNOTATED: Final[Mapping[str, str]] = {
    "STRING": "string",
    "ENUM": "string",
    "JSON": "string",
    "BSON": "binary",
    "DATE": "date",
    "UNKNOWN": "void",
    "VARIANT": "variant",
}
_INTEGERS: Final[Mapping[tuple[int, bool], str]] = {
    (8, True): "byte",
    (16, True): "short",
    (32, True): "integer",
    (64, True): "long",
    (8, False): "short",
    (16, False): "integer",
    (32, False): "long",
    (64, False): "decimal(20,0)",
}


@dataclass(frozen=True, slots=True)
class ColumnProblem:
    """Why a column cannot be one of Delta's."""

    path: tuple[str, ...]
    reason: str

    def __str__(self) -> str:
        return f"{'.'.join(self.path) or '(table)'}: {self.reason}"


@dataclass(frozen=True, slots=True)
class DeltaConversion:
    """What a Parquet schema is in Delta.

    Attributes:
        strict: The schema with the file's own nullability; None where it has problems.
        problems: Why columns cannot be held, all of them.
        features: Names of the table features that the schema needs.
        mapped_columns: Columns whose names need column mapping, if nothing else is
            wrong.
    """

    strict: dict[str, Any] | None
    problems: tuple[ColumnProblem, ...]
    features: tuple[str, ...]
    mapped_columns: tuple[tuple[str, ...], ...]

    @property
    def nullable(self) -> dict[str, Any] | None:
        """The schema with every field, element and value nullable."""
        return None if self.strict is None else as_nullable(self.strict)


def convert(root: Node) -> DeltaConversion:
    """Convert the schema of a file."""
    converter = SchemaConverter()
    fields = converter.fields(root.children or ())
    if not root.children:
        converter.problems.append(ColumnProblem((), "no columns"))
    problems = tuple(converter.problems)
    return DeltaConversion(
        strict=None if problems else {"type": "struct", "fields": fields},
        problems=problems,
        features=tuple(converter.features),
        mapped_columns=() if problems else tuple(converter.mapped_columns),
    )


def as_nullable(schema: DeltaType) -> DeltaType:
    """Return a schema's JSON with all that may be null made nullable."""
    if isinstance(schema, list):
        return [as_nullable(part) for part in schema]
    if not isinstance(schema, dict):
        return schema
    flags = {"nullable", "containsNull", "valueContainsNull"}
    return {
        key: True
        if key in flags
        else value
        if key == "metadata"
        else as_nullable(value)
        for key, value in schema.items()
    }


@dataclass
class SchemaConverter:
    """Builds the JSON of a schema, and keeps why it cannot; others change its types."""

    problems: list[ColumnProblem] = field(default_factory=list)
    features: list[str] = field(default_factory=list)
    mapped_columns: list[tuple[str, ...]] = field(default_factory=list)

    def compared_name(self, node: Node) -> str:
        """Return what two fields may not share."""
        return node.name.lower()

    def annotated_type(self, node: Node, annotation: Annotation) -> DeltaType:
        known = _ANNOTATED.get(annotation.kind)
        return known or self.refuse(node, f"{annotation.text} has no Delta type")

    def physical_type(self, node: Node) -> DeltaType:
        """Return the type of a column without annotation."""
        physical = node.element.physical_type
        known = _PHYSICAL.get(physical or "")
        return known or self.refuse(node, f"{physical} has no Delta type")

    def fields(self, nodes: Iterable[Node]) -> list[dict[str, Any]]:
        known: set[str] = set()
        made = []
        for node in nodes:
            if (name := self.compared_name(node)) in known:
                reason = "duplicate column name (Delta names are case-insensitive)"
                self.refuse(node, reason)
            known.add(name)
            if SPECIAL_CHARACTERS & set(node.name):
                self.mapped_columns.append(node.path)
            made.append(
                {
                    "name": node.name,
                    "type": self.field_type(node),
                    "nullable": not (node.is_required or node.is_repeated),
                    "metadata": {},
                }
            )
        return made

    def field_type(self, node: Node) -> DeltaType:
        """Return the type of a field; a repeated one that is no list's is a list."""
        own = self.type_of(node)
        if node.is_repeated and node.kind != "LIST":
            return {"type": "array", "elementType": own, "containsNull": False}
        return own

    def type_of(self, node: Node, *, is_in_list: bool = False) -> DeltaType:
        if node.invalid is not None:
            return self.refuse(node, f"invalid annotation: {node.invalid}")
        try:
            match node.kind:
                case "LIST":
                    return self._array(node, is_in_list=is_in_list)
                case "MAP":
                    return self._map(node, is_in_list=is_in_list)
                case "VARIANT":
                    return self._variant(node)
        except NestingError as error:
            return self.refuse(node, str(error))
        return self._primitive(node) if node.children is None else self._struct(node)

    def _struct(self, node: Node) -> DeltaType:
        annotation = node.annotation
        if annotation is not None and annotation.kind.startswith("UNRECOGNIZED"):
            return self.refuse(node, f"{annotation.text} has no Delta type")
        if not node.children:
            return self.refuse(node, "a struct with no fields has no Delta type")
        return {"type": "struct", "fields": self.fields(node.children)}

    def _array(self, node: Node, *, is_in_list: bool) -> DeltaType:
        element, is_repeated_element = list_shape(node, is_in_list=is_in_list)
        if is_repeated_element:
            is_nullable = False
            own = self.type_of(element, is_in_list=True)
        else:
            is_nullable = not (element.is_required or element.is_repeated)
            own = self.field_type(element)
        return {"type": "array", "elementType": own, "containsNull": is_nullable}

    def _map(self, node: Node, *, is_in_list: bool) -> DeltaType:
        key, value = map_shape(node, is_in_list=is_in_list)
        if value is None:
            return self.refuse(node, "MAP without a value field has no Delta type")
        return {
            "type": "map",
            "keyType": self.field_type(key),
            "valueType": self.field_type(value),
            "valueContainsNull": not (value.is_required or value.is_repeated),
        }

    def _variant(self, node: Node) -> str:
        self._need("variantType")
        if any(child.name == "typed_value" for child in node.children or ()):
            self._need("variantShredding")
        return "variant"

    def _primitive(self, node: Node) -> DeltaType:
        annotation = node.annotation
        if annotation is None or annotation.kind == "UNRECOGNIZED_CONVERTED":
            return self.physical_type(node)
        match annotation.kind:
            case "INT":
                return _INTEGERS[annotation.bit_width, annotation.is_signed]
            case "DECIMAL":
                return self._decimal(node, annotation)
            case "TIMESTAMP":
                return self._timestamp(node, annotation)
            case "TIME" if annotation.unit not in UNIT_DIGITS:
                return self.refuse(node, _unknown_unit(annotation))
        return self.annotated_type(node, annotation)

    def _decimal(self, node: Node, annotation: Annotation) -> DeltaType:
        precision = annotation.precision or 0
        if precision > MAX_DECIMAL_DIGITS:
            most = f"Delta decimals have at most {MAX_DECIMAL_DIGITS} digits"
            return self.refuse(node, f"{annotation.text}: {most}")
        return f"decimal({precision},{annotation.scale})"

    def _timestamp(self, node: Node, annotation: Annotation) -> DeltaType:
        if annotation.unit == "NANOS":
            most = "Delta timestamps have microsecond precision"
            return self.refuse(node, f"{annotation.text}: {most}")
        if annotation.unit not in UNIT_DIGITS:
            return self.refuse(node, _unknown_unit(annotation))
        if annotation.is_utc:
            return "timestamp"
        self._need("timestampNtz")
        return "timestamp_ntz"

    def _need(self, feature: str) -> None:
        if feature not in self.features:
            self.features.append(feature)

    def refuse(self, node: Node, reason: str) -> DeltaType:
        """Keep the reason; the type that is returned is never seen."""
        self.problems.append(ColumnProblem(node.path, reason))
        return None


def _unknown_unit(annotation: Annotation) -> str:
    return f"{annotation.text}: time unit not known (unsupported feature)"


def problems_text(problems: Sequence[ColumnProblem]) -> str:
    return "; ".join(map(str, problems))
