"""Columns that become of a wider type: no file is written again.

Files keep the types that they were written in, and readers widen their values; what
became what is told in the metadata of the column.

Source: delta_protocol.md, "Type Widening".
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final

from deltaweb.delta.errors import ColumnNotFoundError
from deltaweb.delta.features.identity_columns import is_identity
from deltaweb.delta.features.registry import writer_features
from deltaweb.delta.features.type_widening import (
    PREVIEW,
    TYPE_WIDENING,
    WHOLE_DIGITS,
    WIDER,
    is_widening,
)
from deltaweb.delta.protocol.column_path import (
    ColumnPath,
    may_name,
    path_text,
    resolve_part,
)
from deltaweb.delta.protocol.schema import (
    DataType,
    DecimalType,
    PrimitiveType,
    StructField,
    StructType,
    format_schema,
    parts_of,
    schema_json,
    type_text,
    with_parts,
)
from deltaweb.delta.protocol.schema.field_keys import TYPE_CHANGES
from deltaweb.delta.snapshot.state import Definition
from deltaweb.delta.writing.errors import (
    ColumnInUseError,
    ProtocolUpgradeError,
    TypeNotWidenedError,
)
from deltaweb.delta.writing.operations.definition import table_schema
from deltaweb.delta.writing.operations.new_protocol import LOCAL_TIME_FEATURE
from deltaweb.delta.writing.operations.protocol_change import check_known
from deltaweb.delta.writing.operations.renamed_columns import (
    NamesColumn,
    check_no_rule,
)
from deltaweb.delta.writing.transaction import Transaction

WIDENING_PROPERTY: Final = "delta.enableTypeWidening"
VOID: Final = PrimitiveType("void")
LOCAL_TIME: Final = PrimitiveType("timestamp_ntz")
ICEBERG: Final = ("icebergCompatV1", "icebergCompatV2")
_DOUBLE: Final = PrimitiveType("double")


def widen_column(
    base: Definition,
    column: str,
    data_type: DataType,
    *,
    root: str,
    names_column: NamesColumn = may_name,
) -> Transaction:
    """Return the transaction that gives a column, or a part of it, a wider type.

    Args:
        column: A dotted path for a nested column; the parts of arrays and maps are
            called `element`, `key` and `value`.
        names_column: Returns whether SQL names a column.
    """
    schema = table_schema(base)
    names = resolve_part(schema, column)
    found = _Widening(data_type, column).of_struct(schema, names)
    narrow = found.narrow
    if narrow != data_type:
        if narrow != VOID:
            _check_enabled(base, root=root)
        _check_allowed(base, found.path, narrow, data_type)
        if data_type == LOCAL_TIME:
            check_known(base, LOCAL_TIME_FEATURE, root=root)
        check_no_rule(base, schema, found.path, names_column)
    metadata = replace(base.metadata, schema_string=format_schema(found.schema))
    return Transaction(
        base=base,
        operation="CHANGE COLUMN",
        parameters={"column": ".".join(found.path), "type": type_text(data_type)},
        metadata=None if narrow == data_type else metadata,
    )


def types_change(base: Definition) -> bool:
    """Return whether a table lets types become wider."""
    known = {TYPE_WIDENING, PREVIEW.name} & {*writer_features(base.protocol)}
    is_on = base.metadata.configuration.get(WIDENING_PROPERTY, "").lower() == "true"
    return bool(known) and is_on


def widened_parts(schema: StructType) -> Iterator[str]:
    """Yield the paths of the parts of a schema that can become wider."""
    for column in schema.fields:
        if not is_identity(column.metadata):
            yield from _parts(column.data_type, (column.name,))


def _parts(data_type: DataType, path: ColumnPath) -> Iterator[str]:
    parts = parts_of(data_type)
    for part in parts:
        yield from _parts(part.data_type, (*path, part.name))
    if not parts and _may_widen(data_type):
        yield path_text(path)


def _may_widen(data_type: DataType) -> bool:
    if isinstance(data_type, PrimitiveType):
        return data_type.name in WIDER or data_type.name in WHOLE_DIGITS
    return isinstance(data_type, DecimalType)


def _check_enabled(base: Definition, *, root: str) -> None:
    if types_change(base):
        return
    reason = f"types do not change before {WIDENING_PROPERTY} = true is set"
    raise ProtocolUpgradeError(root=root, version=base.version, reason=reason)


def _check_allowed(
    base: Definition, path: ColumnPath, narrow: DataType, wide: DataType
) -> None:
    is_allowed = is_widening(narrow, wide)
    if narrow == VOID:
        is_allowed = isinstance(wide, PrimitiveType | DecimalType)
    allowed = wider_types(narrow)
    if is_allowed and _is_no_iceberg(narrow, wide):
        kept = [name for name in ICEBERG if name in writer_features(base.protocol)]
        if kept:
            is_allowed, allowed = False, f"less than elsewhere, as {kept[0]} is listed"
    if not is_allowed:
        raise TypeNotWidenedError(
            column=".".join(path),
            narrow=type_text(narrow),
            wide=type_text(wide),
            allowed=allowed,
        )


def wider_types(narrow: DataType) -> str:
    """Return what a type can become, in words."""
    if isinstance(narrow, DecimalType):
        return (
            f"a decimal with {narrow.scale} digits or more after the point, and "
            f"{narrow.precision - narrow.scale} or more before it"
        )
    if narrow == VOID:
        return "any type that is not nested"
    if not isinstance(narrow, PrimitiveType):
        return "nothing: name the part of it that is to become wider"
    order = ("short", "integer", "long", "double", "timestamp_ntz")
    names = [name for name in order if name in WIDER.get(narrow.name, ())]
    words = [type_text(PrimitiveType(name)) for name in names]
    if narrow.name in WHOLE_DIGITS:
        digits = WHOLE_DIGITS[narrow.name]
        words.append(f"a decimal with {digits} digits or more before the point")
    return ", ".join(words) or "nothing"


def _is_no_iceberg(narrow: DataType, wide: DataType) -> bool:
    if isinstance(narrow, DecimalType) and isinstance(wide, DecimalType):
        return wide.scale > narrow.scale
    is_float = narrow == PrimitiveType("float")
    return (
        isinstance(wide, DecimalType)
        or wide == LOCAL_TIME
        or (wide == _DOUBLE and not is_float)
    )


# === The schema ===


@dataclass(frozen=True, slots=True)
class _Found:
    """A schema with a part that is wider."""

    schema: StructType
    path: ColumnPath
    narrow: DataType


@dataclass(frozen=True, slots=True)
class _Part:
    """A type with a part that is wider.

    Attributes:
        is_of_column: Whether that column tells of the change; else one within does.
    """

    data_type: DataType
    path: ColumnPath
    narrow: DataType
    is_of_column: bool = True


@dataclass(frozen=True, slots=True)
class _Widening:
    """One part becomes wider."""

    wide: DataType
    asked: str

    def of_struct(self, struct: StructType, names: Sequence[str]) -> _Found:
        """Return a struct with the part that names lead to."""
        column = struct.find(names[0])
        if column is None:
            raise ColumnNotFoundError(column=self.asked, columns=struct.names)
        part = self._of_type(column.data_type, names[1:], ())
        new = replace(column, data_type=part.data_type)
        if part.is_of_column and part.narrow not in (self.wide, VOID):
            if is_identity(column.metadata):
                raise ColumnInUseError(column=self.asked, user="it numbers the rows")
            new = _with_change(new, part.narrow, self.wide, part.path)
        fields = tuple(new if field is column else field for field in struct.fields)
        path = (column.name, *part.path)
        return _Found(replace(struct, fields=fields), path, part.narrow)

    def _of_type(
        self, data_type: DataType, names: Sequence[str], place: ColumnPath
    ) -> _Part:
        if not names:
            return _Part(self.wide, place, data_type)
        if isinstance(data_type, StructType):
            found = self.of_struct(data_type, names)
            path = (*place, *found.path)
            return _Part(found.schema, path, found.narrow, is_of_column=False)
        step = names[0].lower()
        inner = {part.name: part for part in parts_of(data_type)}
        if step not in inner:
            raise ColumnNotFoundError(column=self.asked, columns=[*inner])
        part = self._of_type(inner[step].data_type, names[1:], (*place, step))
        whole = with_parts(
            data_type,
            lambda one: (
                replace(one, data_type=part.data_type) if one.name == step else one
            ),
        )
        return replace(part, data_type=whole)


def _with_change(
    column: StructField, narrow: DataType, wide: DataType, place: ColumnPath
) -> StructField:
    """Return a column whose metadata tells of one more change of a type."""
    change: dict[str, Any] = {
        "fromType": schema_json(narrow),
        "toType": schema_json(wide),
    }
    if place:
        change["fieldPath"] = ".".join(place)
    before = column.metadata.get(TYPE_CHANGES) or []
    return replace(
        column, metadata={**column.metadata, TYPE_CHANGES: [*before, change]}
    )
