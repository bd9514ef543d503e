"""Entity tags of loaded tables, by which clients keep what they have.

An answer holds keys that end, and that belong to one token. So its tag is a keyed
digest of everything that the answer depends on, and of the time at which the keys end.
The time is readable in the tag, because nothing is stored here.

Source: RFC 9110, section 13.1.2; Iceberg REST catalogue, `loadTable`.
"""

import hmac
import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Final

from deltaweb.sharing.json_text import json_bytes

_TAG: Final = re.compile(r'"([0-9a-f]{64})-([1-9][0-9]{0,10})"')


@dataclass(frozen=True, slots=True, kw_only=True)
class EntityTags:
    """The tags of an answer, for each time at which its keys may end.

    Attributes:
        keys: The server's keys; the first one makes tags, all are accepted.
        content: Everything that the answer depends on, as JSON.
    """

    keys: Sequence[bytes]
    content: object

    def tag(self, ends_at: datetime) -> str:
        """Return the tag of an answer whose keys end then."""
        return self._tag(self.keys[0], int(ends_at.timestamp()))

    def matching(
        self, header: str | None, *, now: datetime, last_end: datetime, spare: timedelta
    ) -> str:
        """Return the tag of the answer that a client can keep; "" if there is none.

        Args:
            header: The value of `If-None-Match`. `*` matches nothing, because a client
                that sends it may have nothing.
            last_end: The latest time at which keys that are made now would end.
            spare: How long the client's keys must still be good.
        """
        for match in _TAG.finditer(header or ""):
            ends_s = int(match[2])
            ends_at = datetime.fromtimestamp(ends_s, tz=UTC)
            if not now + spare < ends_at <= last_end:
                continue
            for key in self.keys:
                if hmac.compare_digest(self._tag(key, ends_s), match[0]):
                    return match[0]
        return ""

    def _tag(self, key: bytes, ends_s: int) -> str:
        message = json_bytes([ends_s, self.content])
        return f'"{hmac.digest(key, message, "sha256").hex()}-{ends_s}"'
