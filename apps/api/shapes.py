"""Serializers, made of the one dataclass of each resource.

The fields of an answer are those of its JSON form (`pages.page_json`): what is spread
stands flat, what is for templates alone is left out.
"""

import types
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, is_dataclass, replace
from datetime import date, datetime
from functools import cache, cached_property, reduce
from math import isfinite
from operator import or_
from typing import Any, Final, Literal, Union, cast, get_args, get_origin
from uuid import UUID

from rest_framework.fields import CharField, ChoiceField, FloatField, JSONField
from rest_framework_dataclasses.field_utils import DataclassDefinition
from rest_framework_dataclasses.serializers import DataclassSerializer

from apps.pages.page_json import made_of, parts_of, types_of
from apps.pages.request.changes import UNCHANGED, Unchanged
from apps.pages.request.parameters import check_names

MAX_TEXT_LENGTH: Final = 10_000  # as of the texts of a page
_SCALARS: Final = (str, int, float, bool, datetime, date, UUID)


class TextField(CharField):
    """A text, just as it was sent."""

    def __init__(self, **how: Any) -> None:  # noqa: ANN401 (as of the field)
        super().__init__(**{"allow_blank": True, "trim_whitespace": False, **how})


class BodyTextField(TextField):
    """A text no longer than one of a page."""

    def __init__(self, **how: Any) -> None:  # noqa: ANN401 (as of the field)
        super().__init__(**{"max_length": MAX_TEXT_LENGTH, **how})


class FiniteField(FloatField):
    """A number that JSON has."""

    def to_internal_value(self, data: Any) -> float:  # noqa: ANN401 (as sent)
        """Return the number; neither infinity nor "nan" is one."""
        number = super().to_internal_value(data)
        if not isfinite(number):
            self.fail("invalid")
        return number


class ShapeSerializer(DataclassSerializer[Any]):
    """A dataclass by its fields; a value of any type is JSON of any kind."""

    serializer_field_mapping = {
        **DataclassSerializer.serializer_field_mapping,
        str: TextField,
        Any: JSONField,
    }

    @property
    def serializer_dataclass_field(self) -> "type[ShapeSerializer]":
        """What a dataclass within another becomes."""
        return ShapeSerializer


class BodySerializer(ShapeSerializer):
    """A dataclass that is read from a body, within bounds."""

    serializer_field_mapping = {
        **ShapeSerializer.serializer_field_mapping,
        str: BodyTextField,
        float: FiniteField,
    }

    @cached_property
    def dataclass_definition(self) -> DataclassDefinition[Any]:
        """The fields, without the mark of those that an update may leave out."""
        found = super().dataclass_definition
        types = {name: _sent(kind) for name, kind in found.field_types.items()}
        return replace(found, field_types=types)

    def to_internal_value(self, data: Any) -> Any:  # noqa: ANN401 (as sent)
        """Return the dataclass."""
        if isinstance(data, Mapping):
            check_names(data, frozenset(self.fields))
        return super().to_internal_value(data)

    @property
    def serializer_dataclass_field(self) -> type[ShapeSerializer]:
        """What a dataclass within another becomes."""
        return BodySerializer


def one_of(names: Iterable[str]) -> Any:  # noqa: ANN401 (of a field)
    """Return the field of a body that is one of some words, or is left out."""
    words = ChoiceField([*names], required=False, allow_null=True)
    return field(default=None, metadata={"serializer_field": words})


def changed_to(names: Iterable[str], *, is_removable: bool = False) -> Any:  # noqa: ANN401 (of a field)
    """Return the field of an update that is one of some words.

    Args:
        names: The words.
        is_removable: Whether null removes the value.
    """
    words = ChoiceField([*names], required=False, allow_null=is_removable)
    return field(default=UNCHANGED, metadata={"serializer_field": words})


@cache
def serializer_of(
    kind: type, base: type[ShapeSerializer] = BodySerializer
) -> type[ShapeSerializer]:
    """Return the serializer of a dataclass as it is written, for what is read."""
    meta = type("Meta", (), {"dataclass": kind})
    return type(f"{kind.__name__}Serializer", (base,), {"Meta": meta})


@cache
def shape_of(kind: type) -> type:
    """Return a dataclass whose fields are the keys that another has in JSON."""
    hints = {name: _plain(hint) for name, hint in types_of(kind).items()}
    facts = {"__doc__": kind.__doc__, "__parts__": tuple(parts_of(kind))}
    shape = type(kind.__name__, (), {"__annotations__": hints, **facts})
    # Nobody makes one: so a key may be a word of Python's own.
    return dataclass(init=False, repr=False, eq=False)(shape)


def answer_of(kind: type) -> type[ShapeSerializer]:
    """Return the serializer of the JSON form of a dataclass, for what is answered."""
    return serializer_of(shape_of(kind), ShapeSerializer)


def _sent(hint: Any) -> Any:  # noqa: ANN401 (a type)
    """Return the type of a field that was sent."""
    if Unchanged not in get_args(hint):
        return hint
    return reduce(or_, (one for one in get_args(hint) if one is not Unchanged))


def _plain(hint: Any) -> Any:  # noqa: ANN401 (a type; a line a kind)
    """Return the type of a value in JSON, `Any` where nothing is known of it."""
    hint = made_of(hint)
    origin, args = get_origin(hint), get_args(hint)
    if origin in {Union, types.UnionType}:
        parts = [_plain(one) for one in args if one is not types.NoneType]
        if Any in parts or len({*map(str, parts)}) > 1:  # OpenAPI would say text
            return Any
        found = parts[0]
        return found | None if types.NoneType in args else found
    if origin is Literal or hint in _SCALARS:
        return hint
    if isinstance(origin, type) and issubclass(origin, Mapping):
        return dict[str, _plain(args[1])]  # type: ignore[misc]  # made as the program runs
    if isinstance(origin, type) and issubclass(origin, Iterable):
        return list[_plain(args[0])] if _is_alike(args) else list[Any]  # type: ignore[misc]  # as above
    return shape_of(cast("type", hint)) if is_dataclass(hint) else Any


def _is_alike(args: tuple[Any, ...]) -> bool:
    """Whether all entries of a list or tuple are of one type."""
    return len(args) == 1 or args[1:] == (Ellipsis,)
