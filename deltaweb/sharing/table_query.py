"""What is asked of a table: a version and hints about its files, or its changes.

Fields that are not known are ignored, as clients send some to every server; a field
that is null is one that is missing.

Source: delta_sharing_protocol.md, "Read Data from a Table".
"""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal, InvalidOperation
from typing import Any, Final, NoReturn

from deltaweb.environment.bounded_json import parse_json
from deltaweb.sharing.errors import ParameterInvalidError, RequestMalformedError
from deltaweb.sharing.parameters import (
    MAX_LONG,
    check_version,
    parse_moment,
    parse_version,
    whole_number,
)

VERSION_FIELDS: Final = ("version", "timestamp", "startingVersion", "refreshToken")
"""Each of them says which version is meant."""
MAX_BODY_BYTES: Final = 4 << 20
"""A JSON hint may have 1 MiB, which grows when it is written as JSON in JSON."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PageAsked:
    """Which part of an answer is asked for, and what its end is to say.

    Attributes:
        max_files: How many files it may have; all that are left for None.
        page_token: Where it begins; "" for the first page.
        with_refresh_token: Whether a token is wanted that refreshes the URLs.
        refresh_token: Such a token, whose files are wanted again; "" without one.

    Source: sharing_wire.md, M16 and M17.
    """

    max_files: int | None = None
    page_token: str = ""
    with_refresh_token: bool = False
    refresh_token: str = ""

    @property
    def is_paged(self) -> bool:
        """Whether a part is asked for, and not the whole answer."""
        return self.max_files is not None or bool(self.page_token)

    @property
    def needs_end(self) -> bool:
        """Whether the answer has to say something at its end."""
        return self.is_paged or self.with_refresh_token or bool(self.refresh_token)


@dataclass(frozen=True, slots=True, kw_only=True)
class ChangesQuery:
    """Which changes are asked for.

    Attributes:
        starting_timestamp: Or the first version is the oldest made at or after this.
        ending_timestamp: And the last one the newest made at or before this.
        with_feed: Whether the rows that changed are asked for, and not merely the
            files that were added and removed.
    """

    starting_version: int | None = None
    ending_version: int | None = None
    starting_timestamp: datetime | None = None
    ending_timestamp: datetime | None = None
    with_feed: bool = True
    with_old_metadata: bool = False
    with_old_protocol: bool = False
    page: PageAsked = PageAsked()


@dataclass(frozen=True, slots=True, kw_only=True)
class TableQuery:
    """What a query asks for.

    Attributes:
        timestamp: The version is the newest one made at or before this time.
        changes: Or the files that were added and removed in some versions.
        idempotency_key: What tells a query that is sent again from another one, where
            it is answered later; "" without.
    """

    predicate_hints: tuple[str, ...] = ()
    json_predicate_hints: str | None = None
    limit_hint: int | None = None
    version: int | None = None
    timestamp: datetime | None = None
    changes: ChangesQuery | None = None
    page: PageAsked = PageAsked()
    idempotency_key: str = ""

    @property
    def names_version(self) -> bool:
        """Whether a version is named, and not just the newest one meant."""
        return self.version is not None or self.timestamp is not None


def parse_table_query(body: bytes) -> TableQuery:
    fields = {name: value for name, value in _object(body).items() if value is not None}
    check_one_version(fields)
    timestamp = _typed(fields, "timestamp", str)
    page = _page(fields)
    return TableQuery(
        predicate_hints=_texts(fields, "predicateHints"),
        json_predicate_hints=_typed(fields, "jsonPredicateHints", str),
        limit_hint=_limit(fields),
        version=_version(fields, "version"),
        timestamp=(
            None if timestamp is None else parse_moment(timestamp, name="timestamp")
        ),
        changes=_stream(fields, page),
        page=page,
        idempotency_key=_typed(fields, "idempotencyKey", str) or "",
    )


def parse_location_request(body: bytes) -> str | None:
    """Read the body of a request for temporary credentials: which location, if any.

    Source: delta_sharing_protocol_2026.md, "Generate Temporary Table Credential".
    """
    location: str | None = _typed(_object(body or b"{}"), "location", str)
    return location


def parse_page(body: bytes) -> PageAsked:
    """Read the body of a request for a page of an answer; it may be empty."""
    return _page(_object(body)) if body.strip() else PageAsked()


def parse_changes_query(parameters: Mapping[str, str]) -> ChangesQuery:
    """Read the parameters of a request for the change data feed."""
    versions, moments = {}, {}
    for end in ("starting", "ending"):
        version, moment = f"{end}Version", f"{end}Timestamp"
        if version in parameters and moment in parameters:
            raise ParameterInvalidError(
                name=moment,
                reason=f"{version} is also given",
                hint="Give a version or a timestamp.",
            )
        if version in parameters:
            versions[end] = parse_version(parameters[version], name=version)
        if moment in parameters:
            moments[end] = parse_moment(parameters[moment], name=moment)
    if "starting" not in {**versions, **moments}:
        raise ParameterInvalidError(
            name="startingVersion",
            reason="the first version is missing",
            hint="Give startingVersion or startingTimestamp.",
        )
    return ChangesQuery(
        starting_version=versions.get("starting"),
        ending_version=versions.get("ending"),
        starting_timestamp=moments.get("starting"),
        ending_timestamp=moments.get("ending"),
        with_old_metadata=_is_true(parameters.get("includeHistoricalMetadata", "")),
        with_old_protocol=_is_true(parameters.get("includeHistoricalProtocol", "")),
        page=PageAsked(
            max_files=(
                None
                if (count := parameters.get("maxFiles")) is None
                else _check_max_files(parse_version(count, name="maxFiles"))
            ),
            page_token=parameters.get("pageToken", ""),
        ),
    )


def _page(fields: Mapping[str, Any]) -> PageAsked:
    count = _number(fields, "maxFiles")
    return PageAsked(
        max_files=None if count is None else _check_max_files(count),
        page_token=_typed(fields, "pageToken", str) or "",
        with_refresh_token=fields.get("includeRefreshToken") is True,
        refresh_token=_typed(fields, "refreshToken", str) or "",
    )


def _check_max_files(count: int) -> int:
    if count > 0:
        return count
    raise ParameterInvalidError(
        name="maxFiles",
        reason="it must be at least 1",
        hint="Give a number from 1 on, or leave it out.",
    )


def _stream(fields: Mapping[str, Any], page: PageAsked) -> ChangesQuery | None:
    """Return what a query asks of versions from one on, None where it does not."""
    if fields.get("startingVersion") is None:
        return None  # an end alone asks for nothing
    return ChangesQuery(
        starting_version=_version(fields, "startingVersion"),
        ending_version=_version(fields, "endingVersion"),
        with_feed=False,
        with_old_metadata=True,
        with_old_protocol=fields.get("includeHistoricalProtocol") is True,
        page=page,
    )


def _is_true(text: str) -> bool:
    return text.strip().lower() == "true"


def check_one_version(fields: Mapping[str, Any]) -> None:
    """Refuse a request that names its version in two ways; "" names none."""
    named = [name for name in VERSION_FIELDS if fields.get(name) not in (None, "")]
    if len(named) > 1:
        raise ParameterInvalidError(
            name=named[1],
            reason=f"{named[0]} is also given",
            hint=f"Give one of {', '.join(VERSION_FIELDS)}.",
        )


def _object(body: bytes) -> dict[str, Any]:
    if not body.strip():
        raise RequestMalformedError(reason="its body is empty")
    try:
        value = parse_json(body, parse_constant=_refuse_constant, parse_float=_exact)
    except RecursionError:
        raise RequestMalformedError(reason="its JSON nests too deep") from None
    except ValueError:
        raise RequestMalformedError(reason="its body is not JSON") from None
    if not isinstance(value, dict):
        raise RequestMalformedError(reason="its body is not a JSON object")
    return value


def _exact(text: str) -> Decimal:
    """Return the exact value of a number with a fraction or an exponent."""
    try:
        return Decimal(text)
    except InvalidOperation:  # of the exponent
        return Decimal("NaN")


def _refuse_constant(text: str) -> NoReturn:
    raise ValueError(text)  # NaN and the infinities are none of JSON's


def _typed(fields: Mapping[str, Any], name: str, kind: type[str]) -> str | None:
    value = fields.get(name)
    if value is not None and not isinstance(value, kind):
        raise RequestMalformedError(reason=f"{name} is not text")
    return value


def _texts(fields: Mapping[str, Any], name: str) -> tuple[str, ...]:
    values = fields.get(name, [])
    if not isinstance(values, list):
        raise RequestMalformedError(reason=f"{name} is not a list of text")
    if not all(isinstance(value, str) for value in values):
        raise RequestMalformedError(reason=f"{name} is not a list of text")
    return tuple(values)


def _limit(fields: Mapping[str, Any]) -> int | None:
    """Return how many rows are wanted; None for 0, which clients send for no limit.

    Source: delta_sharing_protocol_2026.md, whose example has `"limitHint": 0`.
    """
    limit = _number(fields, "limitHint")
    if limit is not None and limit < 0:
        raise ParameterInvalidError(
            name="limitHint",
            reason="it is negative",
            hint="Give a number of rows, or leave it out.",
        )
    return min(limit, MAX_LONG) if limit else None


def _version(fields: Mapping[str, Any], name: str) -> int | None:
    version = _number(fields, name)
    return None if version is None else check_version(version, name=name)


def _number(fields: Mapping[str, Any], name: str) -> int | None:
    value = fields.get(name)
    number = whole_number(value)
    if number is None and value is not None:
        raise RequestMalformedError(reason=f"{name} is not a whole number")
    return number
