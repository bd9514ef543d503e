"""The body of a query: which version is asked for, and hints about which files.

Fields that are not known are ignored, as clients send some to every server; a field
that is null is one that is missing.

Source: delta_sharing_protocol.md, "Read Data from a Table".
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final, NoReturn

from deltaweb.sharing.errors import (
    ChangesNotOfferedError,
    ParameterInvalidError,
    RequestMalformedError,
)
from deltaweb.sharing.parameters import MAX_LONG, check_version, parse_moment

MAX_BODY_BYTES: Final = 4 << 20
"""A JSON hint may have 1 MiB, which grows when it is written as JSON in JSON."""

# Fields that ask for the changes between versions instead of a version's files.
CHANGES: Final = ("startingVersion", "endingVersion")


@dataclass(frozen=True, slots=True, kw_only=True)
class TableQuery:
    """What a query asks for.

    Attributes:
        predicate_hints: SQL texts, all of which the wanted rows fulfil.
        json_predicate_hints: A tree of operations, as JSON text.
        limit_hint: How many rows the client wants at most.
        version: The version; the newest for None.
        timestamp: The version is the newest one made at or before this time.
    """

    predicate_hints: tuple[str, ...] = ()
    json_predicate_hints: str | None = None
    limit_hint: int | None = None
    version: int | None = None
    timestamp: datetime | None = None


def parse_table_query(body: bytes) -> TableQuery:
    """Read the body of a query.

    Raises:
        RequestMalformedError: If it is no JSON object, or a field is of another type.
        ParameterInvalidError: If a value is out of range, or two versions are named.
        ChangesNotOfferedError: If it asks for changes.
    """
    fields = {name: value for name, value in _object(body).items() if value is not None}
    for name in CHANGES:
        if name in fields:
            check_one_version(fields)
            raise ChangesNotOfferedError(name=name)
    check_one_version(fields)
    version = fields.get("version")
    timestamp = _typed(fields, "timestamp", str)
    return TableQuery(
        predicate_hints=_texts(fields, "predicateHints"),
        json_predicate_hints=_typed(fields, "jsonPredicateHints", str),
        limit_hint=_limit(fields),
        version=None if version is None else _version(fields),
        timestamp=(
            None if timestamp is None else parse_moment(timestamp, name="timestamp")
        ),
    )


def check_one_version(fields: Mapping[str, Any]) -> None:
    """Refuse a request that names its version in two ways.

    Raises:
        ParameterInvalidError: If it does.
    """
    named = [
        name
        for name in ("version", "timestamp", "startingVersion")
        if fields.get(name) is not None
    ]
    if len(named) > 1:
        raise ParameterInvalidError(
            name=named[1],
            reason=f"{named[0]} is given as well",
            hint="Give one of version, timestamp and startingVersion.",
        )


def _object(body: bytes) -> dict[str, Any]:
    if not body.strip():
        raise RequestMalformedError(reason="its body is empty")
    try:
        value = json.loads(body, parse_constant=_refuse_constant)
    except RecursionError:
        raise RequestMalformedError(reason="its JSON nests too deep") from None
    except ValueError:
        raise RequestMalformedError(reason="its body is not JSON") from None
    if not isinstance(value, dict):
        raise RequestMalformedError(reason="its body is not a JSON object")
    return value


def _refuse_constant(text: str) -> NoReturn:
    raise ValueError(text)  # NaN and the infinities are none of JSON's


def _typed(fields: Mapping[str, Any], name: str, kind: type[str]) -> str | None:
    value = fields.get(name)
    if value is not None and not isinstance(value, kind):
        raise RequestMalformedError(reason=f"{name} is not a text")
    return value


def _texts(fields: Mapping[str, Any], name: str) -> tuple[str, ...]:
    values = fields.get(name, [])
    if not isinstance(values, list):
        raise RequestMalformedError(reason=f"{name} is not a list of texts")
    if not all(isinstance(value, str) for value in values):
        raise RequestMalformedError(reason=f"{name} is not a list of texts")
    return tuple(values)


def _limit(fields: Mapping[str, Any]) -> int | None:
    limit = fields.get("limitHint")
    if limit is None:
        return None
    if not _is_number(limit):
        raise RequestMalformedError(reason="limitHint is not a whole number")
    if limit < 0:
        raise ParameterInvalidError(
            name="limitHint",
            reason="it is negative",
            hint="Give the number of rows that are wanted, or leave it out.",
        )
    return min(int(limit), MAX_LONG)


def _version(fields: Mapping[str, Any]) -> int:
    if not _is_number(fields["version"]):
        raise RequestMalformedError(reason="version is not a whole number")
    return check_version(fields["version"])


def _is_number(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)
