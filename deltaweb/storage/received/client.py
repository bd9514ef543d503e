"""What is asked of a provider's server, by the protocol's own endpoints.

Source: delta_sharing_protocol_2026.md, "REST APIs"; sharing_wire.md, 2.
"""

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final
from urllib.parse import urlencode

from deltaweb.environment.bounded_json import parse_json
from deltaweb.storage.received.errors import (
    NotSharedError,
    ProviderAnswerError,
    ProviderRefusedError,
    RequestRefusedError,
)
from deltaweb.storage.received.profile import Profile, SharedName
from deltaweb.storage.received.transport import HTTPAnswer, Transport

MAX_LIST_BYTES: Final = 8 << 20  # of one page of a list
MAX_PAGES: Final = 1_000
MAX_TABLES: Final = 5_000
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
_OK, _UNKNOWN, _FORBIDDEN, _NOT_FOUND, _TOO_MANY, _SERVER = 200, 401, 403, 404, 429, 500


@dataclass(frozen=True, slots=True)
class TableAnswer:
    """The lines that a provider answers of a table.

    Attributes:
        version: Of the table, by the header; None where it says none.
        lines: Each a JSON object with one key.
        is_delta: Whether they are in delta format.
    """

    version: int | None
    lines: list[dict[str, Any]]
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
    """Asks one provider.

    Args:
        name: What people call the provider, for errors; its host for "".
    """

    def __init__(self, profile: Profile, transport: Transport, name: str = "") -> None:
        self._profile, self._transport = profile, transport
        self._name = name or profile.host
        self._capabilities = CAPABILITIES

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
        token = ""
        for _ in range(MAX_PAGES):
            query = {"maxResults": str(PAGE_LENGTH)}
            query |= {"pageToken": token} if token else {}
            page = self._list(f"{path}?{urlencode(query)}")
            items = page.get("items") or []
            if not isinstance(items, list):
                raise self._fault(reason="a list has no items")
            yield from (item for item in items if isinstance(item, dict))
            token = page.get("nextPageToken") or ""
            if not isinstance(token, str) or not token:
                return

    def _list(self, path: str) -> dict[str, Any]:
        answer = self._ask(
            "GET", path, what=path.partition("?")[0], max_bytes=MAX_LIST_BYTES
        )
        return self._object(answer.body)

    # === One table ===

    def version(self, table: SharedName) -> int:
        answer = self._ask("GET", f"{table.path}/version", what=str(table))
        version = _version(answer)
        if version is None:
            raise self._fault(reason="it does not say which version a table is at")
        return version

    def files(self, table: SharedName, *, version: int | None = None) -> TableAnswer:
        """Return protocol, metadata and files of a version, the newest for None."""
        asked = {} if version is None else {"version": version}
        try:
            return self._query(table, asked)
        except RequestRefusedError:
            if version is not None or self._capabilities == PLAIN_CAPABILITIES:
                raise
            self._capabilities = PLAIN_CAPABILITIES
            return self._query(table, asked)

    def commits(self, table: SharedName, first: int, last: int) -> TableAnswer:
        """Return the files that came and went from one version to another."""
        asked = {"startingVersion": first, "endingVersion": last}
        return self._query(table, asked)

    def changes(self, table: SharedName, first: int, last: int) -> TableAnswer:
        """Return the files of the change data feed from one version to another."""
        query = {
            "startingVersion": first,
            "endingVersion": last,
            "includeHistoricalMetadata": "true",
        }
        path = f"{table.path}/changes?{urlencode(query)}"
        return self._lines(self._ask("GET", path, what=str(table)))

    def _query(self, table: SharedName, asked: Mapping[str, int]) -> TableAnswer:
        body = json.dumps(asked).encode()
        path = f"{table.path}/query"
        return self._lines(self._ask("POST", path, what=str(table), body=body))

    # === Answers ===

    def _ask(
        self,
        method: str,
        path: str,
        *,
        what: str,
        body: bytes | None = None,
        **bounds: int,
    ) -> HTTPAnswer:
        headers = {
            "Authorization": f"Bearer {self._profile.bearer_token}",
            "delta-sharing-capabilities": self._capabilities,
        }
        if body is not None:
            headers["Content-Type"] = "application/json; charset=utf-8"
        url = f"{self._profile.endpoint}{path}"
        answer = self._transport.ask(method, url, headers=headers, body=body, **bounds)
        match answer.status:
            case status if status == _OK:
                return answer
            case status if status in {_UNKNOWN, _FORBIDDEN}:
                raise ProviderRefusedError(provider=self._name, status=status)
            case status if status == _NOT_FOUND:
                raise NotSharedError(provider=self._name, what=what)
            case status if status == _TOO_MANY:
                raise self._fault(reason="it takes no more requests for now (HTTP 429)")
            case status if 400 <= status < _SERVER:  # noqa: PLR2004
                reason = f"it refuses the request (HTTP {status})"
                raise RequestRefusedError(provider=self._name, reason=reason)
            case status:
                raise self._fault(reason=f"it answers with HTTP {status}")

    def _lines(self, answer: HTTPAnswer) -> TableAnswer:
        # Only a line feed ends a line: other ends may stand in a text.
        lines = [
            self._object(line) for line in answer.body.split(b"\n") if line.strip()
        ]
        end = lines[-1].get("endStreamAction") if lines else None
        if isinstance(end, dict) and end.get("errorMessage"):
            raise self._fault(reason="it broke off with an error of its own")
        first = lines[0].get("protocol") if lines else None
        is_delta = isinstance(first, dict) and "deltaProtocol" in first
        return TableAnswer(_version(answer), lines, is_delta)

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


def _version(answer: HTTPAnswer) -> int | None:
    text = answer.headers.get("Delta-Table-Version", "")
    return int(text) if text.isascii() and text.isdecimal() and len(text) < 20 else None  # noqa: PLR2004


def _name(value: object) -> str:
    """Return a name that can be one of the protocol's; "" for any other value.

    Source: delta_sharing_protocol_2026.md, "Name rules".
    """
    if not isinstance(value, str) or not 0 < len(value) <= MAX_NAME_LENGTH:
        return ""
    is_name = value.isprintable() and "/" not in value and value not in {".", ".."}
    return value if is_name else ""
