"""Tokens of a query's answer: its next page, and its very files with fresh URLs.

What a token says is signed together with what it is for: the recipient, the shared
table on its terms and, of a page, the query itself. It names the version, so that what
is committed meanwhile neither adds nor hides a file.

Source: delta_sharing_protocol_2026.md, "EndStreamAction"; sharing_wire.md, M16 and M17.
"""

import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from datetime import datetime, timedelta
from hashlib import sha256
from typing import Final

from deltaweb.sharing.errors import QueryTokenEndedError
from deltaweb.sharing.page_token import PageScope, decode_page_token, encode_page_token
from deltaweb.sharing.table_query import ChangesQuery, TableQuery

PAGE_LIFETIME: Final = timedelta(hours=1)
"""How long a page may be asked for after the one before."""
REFRESH_MARGIN: Final = timedelta(hours=1)
"""How long URLs may be refreshed after they have ended."""
MAX_REFRESHED: Final = timedelta(days=7)
"""How long after the first answer its files are given URLs."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TokenMaker:
    """Makes and reads tokens of one kind."""

    scope: PageScope
    keys: Sequence[bytes]
    now: datetime

    def make(self, values: Sequence[object], *, ends_at: datetime) -> str:
        texts = [str(int(ends_at.timestamp())), *map(str, values)]
        return encode_page_token(texts, self.scope, keys=self.keys)

    def read(self, token: str) -> tuple[str, ...]:
        ends, *values = decode_page_token(token, self.scope, keys=self.keys)
        if self.now.timestamp() >= int(ends):
            raise QueryTokenEndedError(name=self.scope.field, reason="it has expired")
        return tuple(values)


def query_digest(query: TableQuery | ChangesQuery) -> str:
    """Return what tells a query from others, whichever page of it is asked for."""
    values = asdict(query) | {"page": None, "idempotency_key": None}
    if values.get("changes"):
        values["changes"]["page"] = None
    text = json.dumps(values, sort_keys=True, default=datetime.isoformat)
    return sha256(text.encode()).hexdigest()


def head_digest(lines: bytes) -> str:
    """Return what tells the lines of protocol and metadata from others."""
    return sha256(lines).hexdigest()[:32]
