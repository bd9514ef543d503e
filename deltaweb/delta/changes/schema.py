"""What changed in a schema, field by field, however deep.

Where both versions map columns a field is known by what it is stored as, which it keeps
when it is renamed, and which another field of its name does not get: one that is
dropped and added again is two. Elsewhere a field is known by its name. The item of an
array and the key and value of a map are steps of their own, `element`, `key` and
`value`, as the protocol names them; a struct inside is compared like any other.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from deltaweb.delta.protocol.schema import (
    ArrayType,
    DataType,
    MapType,
    StructField,
    StructType,
    parts_of,
    type_text,
)
from deltaweb.delta.protocol.schema.field_keys import COMMENT


class FieldAspect(StrEnum):
    """What of a field can change while it stays."""

    NAME = "name"
    TYPE = "type"
    NULLABLE = "nullable"
    COMMENT = "comment"
    METADATA = "metadata"


@dataclass(frozen=True)
class FieldState:
    """A field as one version has it.

    Attributes:
        nullable: Whether it, or for an array or map an item of it, may be null.
    """

    type_text: str
    nullable: bool
    comment: str | None
    metadata: Mapping[str, Any]


@dataclass(frozen=True)
class FieldChange:
    """A field that is not as it was.

    Attributes:
        before: How it was; None when it was added.
        after: How it is; None when it was removed.
        aspects: What of it changed; empty unless it was there and still is.
        old_name: Its own name before, where it was renamed; else empty.
    """

    path: tuple[str, ...]
    before: FieldState | None
    after: FieldState | None
    aspects: tuple[FieldAspect, ...] = ()
    old_name: str = ""

    @property
    def name(self) -> str:
        return ".".join(self.path)


@dataclass(frozen=True)
class SchemaChanges:
    """What a schema gained, lost and changed.

    Attributes:
        added: Fields that are new, in the order of the new schema. A field inside a
            new struct is not listed of its own.
        removed: Fields that are gone, in the order of the old schema.
        changed: Fields that stayed and differ, in the order of the new schema.
        reordered: Structs whose common fields stand in another order; the empty path
            is the row itself.
    """

    added: tuple[FieldChange, ...] = ()
    removed: tuple[FieldChange, ...] = ()
    changed: tuple[FieldChange, ...] = ()
    reordered: tuple[tuple[str, ...], ...] = ()

    @property
    def count(self) -> int:
        parts = (self.added, self.removed, self.changed, self.reordered)
        return sum(len(part) for part in parts)


def diff_schemas(before: StructType, after: StructType) -> SchemaChanges:
    """Compare two schemas field by field, by exact name or by what they are stored as.

    The path of a field is that of the second schema where it has the field.
    """
    found = list(_diff_structs(before, after, ()))
    changes = [change for change in found if isinstance(change, FieldChange)]
    return SchemaChanges(
        added=tuple(change for change in changes if change.before is None),
        removed=tuple(change for change in changes if change.after is None),
        changed=tuple(change for change in changes if change.aspects),
        reordered=tuple(path for path in found if not isinstance(path, FieldChange)),
    )


_Found = FieldChange | tuple[str, ...]


def _diff_structs(
    before: StructType, after: StructType, path: tuple[str, ...]
) -> Iterator[_Found]:
    is_mapped = all(column.physical_name for column in (*before.fields, *after.fields))
    olds, news = (_known_by(struct, is_mapped=is_mapped) for struct in (before, after))
    for key, old in olds.items():
        if key not in news:
            yield FieldChange((*path, old.name), _state(old), None)
    for key, new in news.items():
        if key not in olds:
            yield FieldChange((*path, new.name), None, _state(new))
        else:
            yield from _diff_fields(olds[key], new, (*path, new.name))
    common = [key for key in news if key in olds]
    if common != [key for key in olds if key in news]:
        yield path


def _known_by(struct: StructType, *, is_mapped: bool) -> dict[str, StructField]:
    return {
        column.stored_name if is_mapped else column.name: column
        for column in struct.fields
    }


def _diff_fields(
    before: StructField, after: StructField, path: tuple[str, ...]
) -> Iterator[_Found]:
    old, new = _state(before), _state(after)
    same_kind = _is_nested(before.data_type, after.data_type)
    aspects = []
    if before.name != after.name:
        aspects.append(FieldAspect.NAME)
    if not same_kind and old.type_text != new.type_text:
        aspects.append(FieldAspect.TYPE)
    if old.nullable != new.nullable:
        aspects.append(FieldAspect.NULLABLE)
    if old.comment != new.comment:
        aspects.append(FieldAspect.COMMENT)
    if old.metadata != new.metadata:
        aspects.append(FieldAspect.METADATA)
    if aspects:
        old_name = before.name if before.name != after.name else ""
        yield FieldChange(path, old, new, tuple(aspects), old_name)
    if same_kind:
        yield from _diff_parts(before.data_type, after.data_type, path)


def _is_nested(before: DataType, after: DataType) -> bool:
    """Tell whether both are structs, arrays or maps, so that their parts differ."""
    return any(
        isinstance(before, kind) and isinstance(after, kind)
        for kind in (StructType, ArrayType, MapType)
    )


def _diff_parts(
    before: DataType, after: DataType, path: tuple[str, ...]
) -> Iterator[_Found]:
    if isinstance(before, StructType) and isinstance(after, StructType):
        yield from _diff_structs(before, after, path)
        return
    for old, new in zip(parts_of(before), parts_of(after), strict=True):
        yield from _diff_fields(old, new, (*path, new.name))


def _state(field: StructField) -> FieldState:
    comment = field.metadata.get(COMMENT)
    rest = {key: value for key, value in field.metadata.items() if key != COMMENT}
    return FieldState(
        type_text=type_text(field.data_type),
        nullable=field.nullable,
        comment=comment if comment is None else str(comment),
        metadata=rest,
    )
