"""What is asked of a provider's server, by the protocol's own endpoints.

Source: delta_sharing_protocol_2026.md, "REST APIs"; sharing_wire.md, 2.
"""

import json
import re
from collections.abc import Callable, Iterator, Mapping
from copy import copy
from dataclasses import dataclass, replace
from itertools import chain
from typing import Any, Final, Self, TypeVar
from urllib.parse import urlencode

from deltaweb.environment.bounded_json import parse_json
from deltaweb.storage.received.access import access_token_of
from deltaweb.storage.received.budget import LookBounds, LookBudget
from deltaweb.storage.received.errors import (
    NotSharedError,
    ProviderAnswerError,
    ProviderRefusedError,
    RequestRefusedError,
)
from deltaweb.storage.received.numbers import whole
from deltaweb.storage.received.patience import (
    MAX_ANSWER_BYTES,
    PATIENT,
    HTTPRequest,
)
from deltaweb.storage.received.profile import Profile, SharedName
from deltaweb.storage.received.transport import HTTPStream, Transport, host_of

MAX_LIST_BYTES: Final = 8 << 20  # of one page of a list
MAX_BODY_BYTES: Final = 1 << 20  # of an answer whose headers alone count
MAX_TABLES: Final = 5_000
MAX_TOKEN_LENGTH: Final = 8_000  # of a page: it is sent back in a URL
MAX_NAME_LENGTH: Final = 255
PAGE_LENGTH: Final = 500
READER_FEATURES: Final = (
    *("deletionvectors", "columnmapping", "timestampntz", "typewidening"),
    *("v2checkpoint", "vacuumprotocolcheck"),
)
"""What our reader knows of the files of a table, as the protocol spells it."""
CAPABILITIES: Final = f"responseformat=delta;readerfeatures={','.join(READER_FEATURES)}"
"""Ids of files differ between the formats, so one is asked for, always the same; a
server that has but the other answers in that one, or refuses once."""
PLAIN_CAPABILITIES: Final = "responseformat=parquet"
_HALF_CHARACTER: Final = re.compile("[\ud800-\udfff]")  # JSON can escape one
_T = TypeVar("_T")
_OK, _UNKNOWN, _FORBIDDEN, _NOT_FOUND, _TOO_MANY, _SERVER = 200, 401, 403, 404, 429, 500


@dataclass(frozen=True, slots=True)
class TableAnswer:
    """The lines that a provider answers of a table.

    Attributes:
        version: Of the table, by the header; None where it says none.
        lines: Each a JSON object with one key, as they come.
        is_delta: Whether they are in delta format.
    """

    version: int | None
    lines: Iterator[dict[str, Any]]
    is_delta: bool


@dataclass(frozen=True, slots=True)
class SharedTables:
    """The tables that a provider shares with us.

    Attributes:
        tables: By share, schema and name, in the order of the provider.
        is_truncated: Whether there are more than are looked at.
    """

    tables: list[SharedName]
    is_truncated: bool


class SharingClient:
    """Asks one provider, for one look: all requests draw from the same budget.

    Args:
        name: What people call the provider, for errors; its host for "".
        bounds: Of the look, which begins here.
    """

    def __init__(
        self,
        profile: Profile,
        transport: Transport,
        name: str = "",
        bounds: LookBounds | None = None,
    ) -> None:
        self._profile, self._transport = profile, transport
        self._access = access_token_of(profile.client) if profile.client else None
        self._name = name or profile.host
        self._capabilities = CAPABILITIES
        self._budget = LookBudget.of(self._name, bounds or LookBounds())

    def begin_look(self) -> Self:
        """Return a client for another look, with all that this one has learned."""
        other = copy(self)
        other._budget = self._budget.renewed()  # noqa: SLF001 (of the same class)
        return other

    @property
    def file_budget(self) -> LookBudget | None:
        """What files are read within; None where each request has its own limit."""
        return self._budget.of_files

    # === What is shared ===

    def tables(self) -> SharedTables:
        found: list[SharedName] = []
        for share in self._items("/shares"):
            name = _name(share.get("name"))
            if not name:
                continue
            root = SharedName(name, "", "").path.split("/schemas/")[0]
            for item in self._items(f"{root}/all-tables"):
                schema, table = _name(item.get("schema")), _name(item.get("name"))
                if not schema or not table:
                    continue
                if len(found) == MAX_TABLES:
                    return SharedTables(found, is_truncated=True)
                found.append(SharedName(name, schema, table))
        return SharedTables(list(dict.fromkeys(found)), is_truncated=False)

    def _items(self, path: str) -> Iterator[dict[str, Any]]:
        """Yield the items of all pages of a list."""
        token, seen = "", set[str]()
        while True:
            query = {"maxResults": str(PAGE_LENGTH)}
            query |= {"pageToken": token} if token else {}
            self._budget.take_page()
            page = self._list(f"{path}?{urlencode(query)}")
            items = page.get("items") or []
            if not isinstance(items, list):
                raise self._fault(reason="a list has no items")
            yield from (item for item in items if isinstance(item, dict))
            token = page.get("nextPageToken") or ""
            if not isinstance(token, str) or not token:
                return
            if _HALF_CHARACTER.search(token):
                raise self._fault(reason="the token of a page is not text")
            if token in seen:
                raise self._fault(reason="a list repeats a page")
            if len(token) > MAX_TOKEN_LENGTH:
                raise self._fault(reason="the token of a page is too long")
            seen.add(token)

    def _list(self, path: str) -> dict[str, Any]:
        what = path.partition("?")[0]
        body = self._ask(path, what, _body, max_bytes=MAX_LIST_BYTES)
        return self._object(body)

    # === One table ===

    def version(self, table: SharedName) -> int:
        version = self._ask(
            f"{table.path}/version",
            str(table),
            _told_version,
            max_bytes=MAX_BODY_BYTES,
        )
        if version is None:
            raise self._fault(reason="it does not give the version of a table")
        return version

    def files(
        self,
        table: SharedName,
        take: Callable[[TableAnswer], _T],
        *,
        version: int | None = None,
    ) -> _T:
        """Ask for protocol, metadata and files of a version, the newest for None.

        Args:
            take: Reads the answer; called again if a connection breaks off.
        """
        asked = {} if version is None else {"version": version}
        may_ask_again = version is None and self._capabilities != PLAIN_CAPABILITIES
        try:
            return self._query(table, asked, take)
        except RequestRefusedError:
            if not may_ask_again:
                raise
        self._capabilities = PLAIN_CAPABILITIES
        return self._query(table, asked, take)

    def commits(
        self,
        table: SharedName,
        first: int,
        last: int,
        take: Callable[[TableAnswer], _T],
    ) -> _T:
        """Ask for the files that came and went from one version to another."""
        asked = {"startingVersion": first, "endingVersion": last}
        return self._query(table, asked, take)

    def changes(
        self,
        table: SharedName,
        first: int,
        last: int,
        take: Callable[[TableAnswer], _T],
    ) -> _T:
        """Ask for the files of the change data feed from one version to another."""
        query = {
            "startingVersion": first,
            "endingVersion": last,
            "includeHistoricalMetadata": "true",
        }
        path = f"{table.path}/changes?{urlencode(query)}"
        return self._ask(path, str(table), lambda one: take(self._table_answer(one)))

    def _query(
        self,
        table: SharedName,
        asked: Mapping[str, int],
        take: Callable[[TableAnswer], _T],
    ) -> _T:
        return self._ask(
            f"{table.path}/query",
            str(table),
            lambda answer: take(self._table_answer(answer)),
            body=json.dumps(asked).encode(),
        )

    # === Answers ===

    def _ask(
        self,
        path: str,
        what: str,
        take: Callable[[HTTPStream], _T],
        *,
        body: bytes | None = None,
        max_bytes: int = MAX_ANSWER_BYTES,
    ) -> _T:
        """Send one request, by POST where it has a body.

        An access token that is refused is renewed once.
        """
        headers = {"delta-sharing-capabilities": self._capabilities}
        if body is not None:
            headers["Content-Type"] = "application/json; charset=utf-8"
        request = HTTPRequest(
            "GET" if body is None else "POST",
            f"{self._profile.endpoint}{path}",
            headers=headers,
            body=body,
            max_bytes=max_bytes,
            retries=PATIENT,
        )

        def checked(answer: HTTPStream) -> _T:
            self._check(answer, what)
            return take(answer)

        token = self._token()
        try:
            return self._send(request, token, checked)
        except ProviderRefusedError as error:
            if self._access is None or error.status != _UNKNOWN:
                raise
            self._access.forget(token)
        return self._send(request, self._token(), checked)

    def _send(
        self, request: HTTPRequest, token: str, take: Callable[[HTTPStream], _T]
    ) -> _T:
        headers = {**request.headers, "Authorization": f"Bearer {token}"}
        request = replace(request, headers=headers)
        return self._transport.read(request, take, self._budget)

    def _token(self) -> str:
        if self._access is None:
            return self._profile.bearer_token
        return self._access.get(self._transport, self._budget)

    def _check(self, answer: HTTPStream, what: str) -> None:
        match answer.status:
            case status if status == _OK:
                return
            case status if status in {_UNKNOWN, _FORBIDDEN}:
                if "Authorization" not in answer.request.headers:
                    other = host_of(answer.request.url)
                    reason = f"it redirects to another host ({other})"
                    raise self._fault(reason=reason)
                raise ProviderRefusedError(provider=self._name, status=status)
            case status if status == _NOT_FOUND:
                raise NotSharedError(provider=self._name, what=what)
            case status if status == _TOO_MANY:
                raise self._fault(
                    reason=("it accepts no more requests at the moment (HTTP 429)")
                )
            case status if 400 <= status < _SERVER:  # noqa: PLR2004
                reason = f"it refuses the request (HTTP {status})"
                raise RequestRefusedError(provider=self._name, reason=reason)
            case status:
                raise self._fault(reason=f"it answers with HTTP {status}")

    def _table_answer(self, answer: HTTPStream) -> TableAnswer:
        lines = self._objects(answer.parts)
        first = next(lines, None)
        head = (first or {}).get("protocol")
        is_delta = isinstance(head, dict) and "deltaProtocol" in head
        all_lines = lines if first is None else chain([first], lines)
        return TableAnswer(_version(answer.headers), all_lines, is_delta)

    def _objects(self, parts: Iterator[bytes]) -> Iterator[dict[str, Any]]:
        """Yield the lines of an answer; refuse one that ends with an error."""
        last: dict[str, Any] = {}
        for text in self._texts(parts):
            if not text.strip():
                continue
            self._budget.take_line()
            last = self._object(text)
            yield last
        end = last.get("endStreamAction")
        if isinstance(end, dict) and end.get("errorMessage"):
            raise self._fault(reason="it ended the answer with an error")

    def _texts(self, parts: Iterator[bytes]) -> Iterator[bytes]:
        """Yield lines as they come; only a line feed ends one."""
        rest: list[bytes] = []
        size = 0
        for part in parts:
            first, *others = part.split(b"\n")
            rest.append(first)
            size += len(first)
            self._budget.check_line(size)
            if others:
                yield b"".join(rest)
                yield from others[:-1]
                rest, size = [others[-1]], len(others[-1])
        yield b"".join(rest)

    def _object(self, text: bytes) -> dict[str, Any]:
        try:
            value = parse_json(text)
        except (ValueError, RecursionError):
            raise self._fault(reason="an answer is not JSON") from None
        if not isinstance(value, dict):
            raise self._fault(reason="an answer is not a JSON object")
        return value

    def _fault(self, *, reason: str) -> ProviderAnswerError:
        return ProviderAnswerError(provider=self._name, reason=reason)


def _body(answer: HTTPStream) -> bytes:
    return b"".join(answer.parts)


def _told_version(answer: HTTPStream) -> int | None:
    _body(answer)  # the request has succeeded only when all of it is there
    return _version(answer.headers)


def _version(headers: Mapping[str, str]) -> int | None:
    return whole(headers.get("Delta-Table-Version"))


def _name(value: object) -> str:
    """Return a name that can be one of the protocol's; "" for any other value.

    Source: delta_sharing_protocol_2026.md, "Name rules".
    """
    if not isinstance(value, str) or not 0 < len(value) <= MAX_NAME_LENGTH:
        return ""
    is_name = value.isprintable() and "/" not in value and value not in {".", ".."}
    return value if is_name else ""
