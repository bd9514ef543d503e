"""The JSON form of a page: the fields of its dataclass, each under its name.

A page is one frozen dataclass. The template sees its fields and properties; the JSON
form has the same fields, but for what the annotations say:

    figure: OnPage[Chart | None]              for the template alone
    size_bytes: Annotated[int, Named("size")] another name
    at: Spread[TableVersion]                  its own fields, not one that holds them
    commit: Annotated[Commit, As(facts_of)]   what a function makes of it
    holds: IfKnown[str | None] = None         no key where it is None

A value with a method `describe` is what that returns. A property marked by
`in_json` is in the JSON form alone and worked out for it alone. A key that had another
name before has both for one version (`OLD_NAMES`). `from_json` reads the JSON form.
"""

import dataclasses
import types
import typing
from collections.abc import Callable, Iterable, Iterator, Mapping
from datetime import datetime
from enum import Enum, auto
from functools import cache
from typing import Annotated, Any, Final, NamedTuple, TypeVar, cast

T = TypeVar("T")

# Keys that had another name have both for one version: by the name of a dataclass, or
# of a base of it, each old name and the new one. Where an old key had another shape,
# the changelog says what to read instead.
OLD_NAMES: Final[Mapping[str, Mapping[str, str]]] = {
    "JobResource": {
        "error": "error_code",
        "message": "error_message",
        "hint": "error_hint",
    },
    "PageJob": {"error": "error_message"},
    "TableResource": {"error": "error_message"},
    "RecipientResource": {"token_state": "state"},
    "TableReader": {"shares": "by_shares"},
    "TableSharing": {"recipients": "readers"},
    "CommitNames": {"engine": "engine_info"},
    "VacuumCommit": {"committed_at": "timestamp"},
    "UserResource": {"api_keys": "num_keys"},
    "AccountResource": {"api_keys": "keys"},
    "KeyResource": {"name": "label"},
    "Histogram": {"untold": "files_without_statistics"},
    "DailyUse": {"answered": "num_answered", "refused": "num_refused"},
}
"""In JSON and CSV: the old name, and the new one."""

OLD_CSV_NAMES: Final[Mapping[str, Mapping[str, str]]] = {
    "TableResource": {
        "rows": "num_records",
        "files": "num_files",
        "columns": "num_columns",
    },
    "ShareResource": {"tables": "num_tables"},
}
"""In CSV alone."""


class Mark(Enum):
    """What becomes of a field in the JSON form."""

    ON_PAGE = auto()
    SPREAD = auto()
    IF_KNOWN = auto()


OnPage = Annotated[T, Mark.ON_PAGE]
Spread = Annotated[T, Mark.SPREAD]
IfKnown = Annotated[T, Mark.IF_KNOWN]


class Named(NamedTuple):
    """The name of a field in the JSON form."""

    name: str


class As(NamedTuple):
    """What the JSON form has of a field that is not None."""

    shape: Callable[[Any], object]


AsText = Annotated[datetime, As(datetime.isoformat)]
"""A moment that JSON has as text, with its zone."""


class in_json(property):  # noqa: N801 (used as `property` is)
    """A property that the JSON form has."""


class _Entry(NamedTuple):
    attribute: str
    name: str
    hint: Any  # the type of what it is made of
    is_spread: bool = False
    is_if_known: bool = False
    part: type[Any] | None = None  # of a part that may be None: its names are null then
    shape: Callable[[Any], object] = lambda value: value


def json_of(value: object) -> object:  # noqa: PLR0911 (a line a kind)
    """Return a value as JSON names it: dataclasses as mappings, at any depth.

    NaN and infinity, which JSON has not, become null.
    """
    if value is None or isinstance(value, (str, int)):
        return value
    if isinstance(value, float):
        return value if value - value == 0 else None
    if isinstance(value, dict):
        return {str(key): json_of(entry) for key, entry in value.items()}
    if isinstance(value, (list, tuple)):
        return [json_of(entry) for entry in value]
    if (describe := getattr(value, "describe", None)) is not None:
        return json_of(describe())
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return dict(_items(value))
    return json_of(dict(value)) if isinstance(value, Mapping) else value


def json_with(value: object, **more: object) -> dict[str, Any]:
    """Return a dataclass as JSON names it, and more keys beside."""
    return {**cast("dict[str, Any]", json_of(value)), **more}


def csv_rows(
    kind: type[T], values: Iterable[T | tuple[object, ...]]
) -> Iterator[tuple[object, ...]]:
    """Yield a header, and a row for each value: the JSON form, a column a key.

    A tuple is such a row already, for lists of millions.
    """
    old = _old_names(kind, OLD_CSV_NAMES)
    yield (*names_of(kind), *old)
    for value in values:
        if isinstance(value, tuple):
            yield value
            continue
        shown = {name: _cell(found) for name, found in _items(value)}
        yield (*shown.values(), *(shown[name] for name in old.values()))


def _cell(value: object) -> object:
    """Return what a column has: names by commas, all else as in JSON."""
    if isinstance(value, list) and all(isinstance(one, str) for one in value):
        return ", ".join(value)
    return value


def names_of(kind: type[Any]) -> tuple[str, ...]:
    """Return the keys of a dataclass, also of those that are spread in it."""
    return tuple(dict.fromkeys(_names(kind)))


def types_of(kind: type[Any]) -> dict[str, Any]:
    """Return the type of each key that a dataclass has in JSON, old names left out.

    Of what is spread in it and has no names that are known, there is none.
    """
    old, found = _old_names(kind, OLD_NAMES), {}
    for entry in _entries(kind):
        if entry.name in old:
            continue
        hint = made_of(entry.hint)
        if not entry.is_spread:
            found[entry.name] = hint
            continue
        part = _part(hint)
        spread = types_of(part) if dataclasses.is_dataclass(part) else {}
        found |= {
            name: one if part is hint else one | None for name, one in spread.items()
        }
    return found


def parts_of(kind: type[Any]) -> Iterator[type[Any]]:
    """Yield the dataclasses whose fields a dataclass has in JSON, itself the last."""
    for entry in _entries(kind):
        part = _part(made_of(entry.hint)) if entry.is_spread else None
        if dataclasses.is_dataclass(part):
            yield from parts_of(cast("type[Any]", part))
    yield from filter(dataclasses.is_dataclass, reversed(kind.__mro__))


def made_of(hint: Any) -> Any:  # noqa: ANN401 (a type)
    """Return the type of what JSON has of a value of a type, `Any` where none says it.

    Of a function it is what that returns.
    """
    if isinstance(hint, types.FunctionType):
        return _returned(hint)
    marks = getattr(hint, "__metadata__", ())
    shape = next((m.shape for m in marks if isinstance(m, As)), None)
    if shape is not None:
        found = _returned(shape)
        is_optional = types.NoneType in typing.get_args(hint.__origin__)
        return found | None if is_optional and found is not Any else found
    hint = hint.__origin__ if marks else hint
    describe = getattr(hint, "describe", None)
    return hint if describe is None else _returned(describe)


def _returned(function: Callable[..., object]) -> Any:  # noqa: ANN401 (a type)
    try:
        return typing.get_type_hints(function).get("return", Any)
    except (NameError, TypeError):  # made in place, or said for type checkers alone
        return Any


def _names(kind: type[Any]) -> Iterator[str]:
    for entry in _entries(kind):
        if entry.part is not None:
            yield from _names(entry.part)
        elif not entry.is_spread:
            yield entry.name


def shaped(kind: type[T], source: object, /, **others: object) -> T:
    """Return a dataclass made of what another object calls by the same names.

    Where a text may be None, an empty one is. `others` are the fields that the source
    has not, or calls otherwise.
    """
    given = {
        name: None if is_optional and value == "" else value
        for name, is_optional in _fields(cast("Any", kind))
        if name not in others
        for value in (getattr(source, name),)
    }
    return kind(**given, **others)


@cache
def _fields(kind: type[Any]) -> tuple[tuple[str, bool], ...]:
    """Return the fields of a dataclass, each with whether it may be None."""
    hints = typing.get_type_hints(kind)
    return tuple(
        (field.name, types.NoneType in typing.get_args(hints[field.name]))
        for field in dataclasses.fields(kind)
    )


class MissingKeysError(ValueError):
    """JSON lacks keys of a dataclass that have no default."""


def from_json(kind: type[T], values: Any) -> T:  # noqa: ANN401 (JSON)
    """Read a dataclass, or a list of one, that was written as JSON.

    The name of a field may end with an underscore that its key does not have. A key
    that is missing has the default of its field, and an unknown one is ignored. What
    is spread and may be None is None unless two of its keys are there, and all of those
    without a default.
    """
    if not dataclasses.is_dataclass(kind):
        return cast("T", _read(kind, values))
    found = {}
    for field in _read_fields(cast("Any", kind)):
        if field.part is not None:
            is_there = field.is_there(values)
            found[field.name] = from_json(field.part, values) if is_there else None
        elif field.key in values:
            found[field.name] = _read(field.hint, values[field.key])
    if missing := _needed(kind) - found.keys():
        raise MissingKeysError(kind.__name__, sorted(missing))
    return kind(**found)


@cache
def _needed(kind: Any) -> frozenset[str]:  # noqa: ANN401 (a dataclass)
    """Return the names of the fields without a default."""
    missing = dataclasses.MISSING
    return frozenset(
        field.name
        for field in dataclasses.fields(kind)
        if field.default is missing and field.default_factory is missing
    )


class _ReadField(NamedTuple):
    name: str
    key: str
    hint: Any
    part: type[Any] | None = None  # of what is spread

    def is_there(self, values: Mapping[str, Any]) -> bool:
        """Return whether a part was written, which has two keys at least."""
        if self.part is None or self.part is self.hint:
            return True
        known = {field.name for field in dataclasses.fields(self.part)}
        there = known & values.keys()
        return _needed(cast("Any", self.part)) <= there and len(there) > 1


@cache
def _read_fields(kind: type[Any]) -> tuple[_ReadField, ...]:
    hints = typing.get_type_hints(kind, include_extras=True)
    found = []
    for field in dataclasses.fields(kind):
        hint = hints[field.name]
        marks = getattr(hint, "__metadata__", ())
        if not field.init or Mark.ON_PAGE in marks:
            continue
        key = next((m.name for m in marks if isinstance(m, Named)), field.name)
        plain = hint.__origin__ if marks else hint
        part = _part(plain) if Mark.SPREAD in marks else None
        found.append(_ReadField(field.name, key.rstrip("_"), plain, part))
    return tuple(found)


def _read(hint: Any, value: Any) -> Any:  # noqa: ANN401 (a type, and JSON)
    """Return a JSON value as a type has it."""
    if typing.get_origin(hint) is Annotated:
        hint = hint.__origin__
    args = [one for one in typing.get_args(hint) if one is not types.NoneType]
    if typing.get_origin(hint) in {typing.Union, types.UnionType} and len(args) == 1:
        return _read(args[0], value)
    if isinstance(value, str):
        if isinstance(hint, type) and issubclass(hint, Enum):
            return hint(value)
        return datetime.fromisoformat(value) if hint is datetime else value
    if isinstance(value, Mapping):
        if dataclasses.is_dataclass(hint):
            return from_json(cast("type[Any]", hint), value)
        of = args[-1] if args else Any
        return {key: _read(of, one) for key, one in value.items()}
    return _read_list(hint, args, value) if isinstance(value, list) else value


def _read_list(hint: Any, args: list[Any], values: list[Any]) -> Any:  # noqa: ANN401 (as above)
    origin = typing.get_origin(hint) or hint
    each = args if origin is tuple and ... not in args else [*args[:1]] * len(values)
    read = [_read(one, value) for one, value in zip(each, values, strict=False)]
    if not args:  # nothing is said of the entries
        read = values
    return read if origin in {list, Any} else tuple(read)


def context_of(page: object) -> dict[str, Any]:
    """Return what a template sees of a page: its fields and its own properties."""
    return {"page": page} | {name: getattr(page, name) for name in _seen(type(page))}


def _items(value: object) -> Iterator[tuple[str, object]]:
    for entry in _entries(type(value)):
        found = getattr(value, entry.attribute)
        if found is None and entry.is_if_known:
            continue
        if found is None and entry.part is not None:
            yield from _nothing(entry.part)
            continue
        found = None if found is None else json_of(entry.shape(found))
        if not entry.is_spread:
            yield entry.name, found
        elif isinstance(found, dict):
            yield from found.items()


def _nothing(kind: type[Any]) -> Iterator[tuple[str, object]]:
    """Yield the names of a part that is not there: null, or an empty list."""
    lists = {
        field.name
        for field in dataclasses.fields(kind)
        if cast("object", field.default_factory) in {list, tuple}
    }
    for entry in _entries(kind):
        if entry.part is not None:
            yield from _nothing(entry.part)
        elif not entry.is_spread:
            yield entry.name, [] if entry.attribute in lists else None


_kept: dict[type[Any], tuple[_Entry, ...]] = {}
_kept_names: dict[type[Any], tuple[str, ...]] = {}


def _entries(kind: type[Any]) -> tuple[_Entry, ...]:
    if kind not in _kept:
        _kept[kind] = _entries_of(kind)
    return _kept[kind]


def _entries_of(kind: type[Any]) -> tuple[_Entry, ...]:
    found = []
    hints = typing.get_type_hints(kind, include_extras=True)
    for field in dataclasses.fields(kind):
        hint = hints[field.name]
        marks = getattr(hint, "__metadata__", ())
        if Mark.ON_PAGE in marks:
            continue
        name = next((m.name for m in marks if isinstance(m, Named)), field.name)
        shape = next((m.shape for m in marks if isinstance(m, As)), None)
        is_spread = Mark.SPREAD in marks
        is_if_known = Mark.IF_KNOWN in marks
        entry = _Entry(field.name, name, hint, is_spread, is_if_known)
        if shape is not None:
            entry = entry._replace(shape=shape)
        elif is_spread:
            entry = entry._replace(part=_part(hint.__origin__))
        found.append(entry)
    values = {
        name: value
        for owner in reversed(kind.__mro__)
        for name, value in vars(owner).items()
        if isinstance(value, in_json)
    }
    found += [_Entry(name, name, values[name].fget) for name in values]
    by_name = {entry.name: entry for entry in found}
    old = _old_names(kind, OLD_NAMES).items()
    return (*found, *(by_name[new]._replace(name=name) for name, new in old))


def _old_names(
    kind: type[Any], names: Mapping[str, Mapping[str, str]]
) -> dict[str, str]:
    """Return the old names of a class and its bases; its own win."""
    found: dict[str, str] = {}
    for owner in reversed(kind.__mro__):
        found |= names.get(owner.__name__, {})
    return found


def _part(hint: Any) -> type[Any]:  # noqa: ANN401 (a type, or one or None)
    """Return the dataclass of a part that may be None."""
    if isinstance(hint, types.UnionType) or typing.get_origin(hint) is typing.Union:
        hint = next(one for one in typing.get_args(hint) if one is not types.NoneType)
    return cast("type[Any]", hint)


def _seen(kind: type[Any]) -> tuple[str, ...]:
    if kind not in _kept_names:
        _kept_names[kind] = _names_of(kind)
    return _kept_names[kind]


def _names_of(kind: type[Any]) -> tuple[str, ...]:
    fields = [field.name for field in dataclasses.fields(kind)]
    own = [
        name
        for owner in kind.__mro__
        for name, value in vars(owner).items()
        if isinstance(value, property) and not isinstance(value, in_json)
    ]
    return (*fields, *own)
