"""The schema that rows of two versions are compared in.

It has the columns of both: one that a version lacks is null in its rows. A column
whose types differ gets the wider of the two. Where neither holds the other's values,
as with a number that became text, its values are shown as text and never equal.
"""

from dataclasses import dataclass

from deltaweb.delta.protocol.schema import (
    MAX_DECIMAL_PRECISION,
    ArrayType,
    DataType,
    DecimalType,
    MapType,
    PrimitiveType,
    StructField,
    StructType,
    with_parts,
)

INTEGERS = ("byte", "short", "integer", "long")
FLOATS = ("float", "double")
STRING = PrimitiveType("string")


@dataclass(frozen=True)
class CommonSchema:
    """What both versions' rows are brought to.

    Attributes:
        schema: The columns: those of the newer version first, then those that only
            the older one has.
        only_before: Columns that the second version lacks.
        only_after: Columns that the first version lacks.
        as_text: Columns whose types have nothing in common.
    """

    schema: StructType
    only_before: tuple[str, ...]
    only_after: tuple[str, ...]
    as_text: tuple[str, ...]


def common_schema(before: StructType, after: StructType) -> CommonSchema:
    """Return the schema that rows of both can be brought to."""
    olds = {field.name: field for field in before.fields}
    news = {field.name: field for field in after.fields}
    fields, as_text = [], []
    for name in (*news, *(name for name in olds if name not in news)):
        old, new = olds.get(name), news.get(name)
        kept = new or old
        if kept is None:  # pragma: no cover (every name is of one of them)
            continue
        data_type: DataType | None = kept.data_type
        if old is not None and new is not None:
            data_type = common_type(old.data_type, new.data_type)
        if data_type is None:
            as_text.append(name)
        fields.append(StructField(name, _nullable(data_type or STRING)))
    return CommonSchema(
        schema=StructType(tuple(fields)),
        only_before=tuple(name for name in olds if name not in news),
        only_after=tuple(name for name in news if name not in olds),
        as_text=tuple(as_text),
    )


def common_type(before: DataType, after: DataType) -> DataType | None:
    """Return the type that holds the values of both exactly; None without one."""
    found: DataType | None = None
    match before, after:
        case PrimitiveType(name="void"), _:
            found = after
        case _, PrimitiveType(name="void"):
            found = before
        case PrimitiveType(name=old), PrimitiveType(name=new):
            found = _wider(old, new)
        case DecimalType(), DecimalType():
            found = _wider_decimal(before, after)
        case StructType(), StructType():
            found = _both_structs(before, after)
        case ArrayType(), ArrayType():
            element = common_type(before.element_type, after.element_type)
            found = None if element is None else ArrayType(element)
        case MapType(), MapType():
            key = common_type(before.key_type, after.key_type)
            value = common_type(before.value_type, after.value_type)
            found = None if key is None or value is None else MapType(key, value)
    return found


def _wider(old: str, new: str) -> PrimitiveType | None:
    if old == new:
        return PrimitiveType(new)
    for family in (INTEGERS, FLOATS):
        if old in family and new in family:
            return PrimitiveType(max(old, new, key=family.index))
    return None


def _wider_decimal(old: DecimalType, new: DecimalType) -> DecimalType | None:
    scale = max(old.scale, new.scale)
    whole = max(old.precision - old.scale, new.precision - new.scale)
    if scale + whole > MAX_DECIMAL_PRECISION:
        return None
    return DecimalType(scale + whole, scale)


def _both_structs(before: StructType, after: StructType) -> StructType | None:
    found = common_schema(before, after)
    return None if found.as_text else found.schema


def _nullable(data_type: DataType) -> DataType:
    """Return the type without a promise that something is never null.

    A field that the other version lacks is null in its rows.
    """
    return with_parts(
        data_type, lambda part: StructField(part.name, _nullable(part.data_type))
    )
