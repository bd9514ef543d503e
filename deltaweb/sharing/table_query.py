"""What is asked of a table: a version and hints about its files, or its changes.

Fields that are not known are ignored, as clients send some to every server; a field
that is null is one that is missing.

Source: delta_sharing_protocol.md, "Read Data from a Table".
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final, NoReturn

from deltaweb.sharing.errors import ParameterInvalidError, RequestMalformedError
from deltaweb.sharing.parameters import (
    MAX_LONG,
    check_version,
    parse_moment,
    parse_version,
)

MAX_BODY_BYTES: Final = 4 << 20
"""A JSON hint may have 1 MiB, which grows when it is written as JSON in JSON."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ChangesQuery:
    """Which changes are asked for.

    Attributes:
        starting_version: The first version.
        ending_version: The last one.
        starting_timestamp: Or the first version is the oldest made at or after this.
        ending_timestamp: And the last one the newest made at or before this.
        with_feed: Whether the rows that changed are asked for, and not merely the
            files that were added and removed.
        with_old_metadata: Whether the metadata of older versions is.
        with_old_protocol: Whether the protocol of older versions is.
    """

    starting_version: int | None = None
    ending_version: int | None = None
    starting_timestamp: datetime | None = None
    ending_timestamp: datetime | None = None
    with_feed: bool = True
    with_old_metadata: bool = False
    with_old_protocol: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class TableQuery:
    """What a query asks for.

    Attributes:
        predicate_hints: SQL texts, all of which the wanted rows fulfil.
        json_predicate_hints: A tree of operations, as JSON text.
        limit_hint: How many rows the client wants at most.
        version: The version; the newest for None.
        timestamp: The version is the newest one made at or before this time.
        changes: Or the files that were added and removed in some versions.
    """

    predicate_hints: tuple[str, ...] = ()
    json_predicate_hints: str | None = None
    limit_hint: int | None = None
    version: int | None = None
    timestamp: datetime | None = None
    changes: ChangesQuery | None = None


def parse_table_query(body: bytes) -> TableQuery:
    """Read the body of a query.

    Raises:
        RequestMalformedError: If it is not a JSON object, or a field has another type.
        ParameterInvalidError: If a value is out of range, or two versions are named.
    """
    fields = {name: value for name, value in _object(body).items() if value is not None}
    check_one_version(fields)
    version = fields.get("version")
    timestamp = _typed(fields, "timestamp", str)
    return TableQuery(
        predicate_hints=_texts(fields, "predicateHints"),
        json_predicate_hints=_typed(fields, "jsonPredicateHints", str),
        limit_hint=_limit(fields),
        version=None if version is None else _version(fields, "version"),
        timestamp=(
            None if timestamp is None else parse_moment(timestamp, name="timestamp")
        ),
        changes=_stream(fields),
    )


def parse_location_request(body: bytes) -> str | None:
    """Read the body of a request for temporary credentials: which location, if any.

    Raises:
        RequestMalformedError: If it is no JSON object, or a field is of another type.

    Source: delta_sharing_protocol_2026.md, "Generate Temporary Table Credential".
    """
    location: str | None = _typed(_object(body or b"{}"), "location", str)
    return location


def parse_changes_query(parameters: Mapping[str, str]) -> ChangesQuery:
    """Read the parameters of a request for the change data feed.

    Raises:
        ParameterInvalidError: If a value is out of range, a start is missing, or a
            version is named in two ways.
    """
    versions, moments = {}, {}
    for end in ("starting", "ending"):
        version, moment = f"{end}Version", f"{end}Timestamp"
        if version in parameters and moment in parameters:
            raise ParameterInvalidError(
                name=moment,
                reason=f"{version} is given as well",
                hint="Give a version or a timestamp.",
            )
        if version in parameters:
            versions[end] = parse_version(parameters[version], name=version)
        if moment in parameters:
            moments[end] = parse_moment(parameters[moment], name=moment)
    if "starting" not in {**versions, **moments}:
        raise ParameterInvalidError(
            name="startingVersion",
            reason="changes have to begin somewhere",
            hint="Give startingVersion or startingTimestamp.",
        )
    return ChangesQuery(
        starting_version=versions.get("starting"),
        ending_version=versions.get("ending"),
        starting_timestamp=moments.get("starting"),
        ending_timestamp=moments.get("ending"),
        with_old_metadata=_is_true(parameters.get("includeHistoricalMetadata", "")),
        with_old_protocol=_is_true(parameters.get("includeHistoricalProtocol", "")),
    )


def _stream(fields: Mapping[str, Any]) -> ChangesQuery | None:
    """Return what a query asks of versions from one on, None where it does not."""
    if fields.get("startingVersion") is None:
        return None  # an end alone asks for nothing
    ending = fields.get("endingVersion")
    return ChangesQuery(
        starting_version=_version(fields, "startingVersion"),
        ending_version=None if ending is None else _version(fields, "endingVersion"),
        with_feed=False,
        with_old_metadata=True,
        with_old_protocol=fields.get("includeHistoricalProtocol") is True,
    )


def _is_true(text: str) -> bool:
    return text.strip().lower() == "true"


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


def _version(fields: Mapping[str, Any], name: str) -> int:
    if not _is_number(fields[name]):
        raise RequestMalformedError(reason=f"{name} is not a whole number")
    return check_version(fields[name], name=name)


def _is_number(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)
