"""Names of the objects of a shared table.

    t/{table}/metadata/{version}-{mark}.json               metadata.json
    t/{table}/metadata/{version}-{mark}/list.avro          the manifest list
    t/{table}/metadata/{version}-{mark}/{name}.avro        a manifest
    t/{table}/data/{path}.parquet                          a data file, as stored
    t/{table}/data-ids/{path}.parquet                      a data file with field ids
    t/{table}/rewritten/{path}.parquet                     what a rule left of one
    t/{table}/rewritten-ids/{path}.parquet                 the same with field ids
    t/{table}/vectors/{vector}.puffin                      a deletion vector

Clients cut names at `?` and `#`, and read values from folders: so the paths of data
files are not in them as they are. What stands for one is signed, and opens nothing if
this server has not made it for the table as it is shared now.
"""

import base64
import binascii
import hashlib
import hmac
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Final
from uuid import UUID

BUCKET: Final = "iceberg"
MARK_BYTES: Final = 12
MAX_KEY_LENGTH: Final = 16_000
_URL_SAFE: Final = bytes.maketrans(b"+/", b"-_")
_KEY: Final = re.compile(
    r"t/(?P<table>[0-9a-f-]{36})/(?:"
    r"metadata/(?P<version>0|[1-9][0-9]{0,18})-(?P<mark>[0-9a-f]{1,60})"
    r"(?P<part>\.json|/[0-9a-z-]{1,60}\.avro)|"
    r"(?P<kind>(?:data|rewritten)(?:-ids)?|vectors)/"
    r"(?P<text>[A-Za-z0-9_-]+)\.(?:parquet|puffin))",
    re.ASCII,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class ObjectKey:
    """What a key names.

    Attributes:
        mark: Of such an object: what distinguishes it from others of the version.
        kind: `data`, `data-ids`, `rewritten`, `rewritten-ids` or `vectors` of another
            one; else "".
        text: Of another one: what stands for its path, not yet checked.
    """

    table_id: UUID
    version: int | None
    mark: str
    part: str
    kind: str
    text: str


def parse_key(key: str) -> ObjectKey | None:
    """Return what a key of the bucket names; None where it is none that there is."""
    if len(key) > MAX_KEY_LENGTH:
        return None
    match = _KEY.fullmatch(key)
    if match is None:
        return None
    try:
        table_id = UUID(match["table"])
    except ValueError:
        return None
    if str(table_id) != match["table"]:
        return None
    version = match["version"]
    return ObjectKey(
        table_id=table_id,
        version=None if version is None else int(version),
        mark=match["mark"] or "",
        part=(match["part"] or "").lstrip("/"),
        kind=match["kind"] or "",
        text=match["text"] or "",
    )


class PathSealer:
    """Seals paths of files, so that they are known again and nothing else is.

    Args:
        keys: The server's; the first seals, all are known again.
        scope: What the paths belong to: sealed for another scope, none is known.
    """

    def __init__(self, keys: Sequence[bytes], scope: str) -> None:
        self._keys = keys
        self._scope = scope.encode()

    def seal(self, kind: str, paths: Iterable[str]) -> list[str]:
        state = self._state(self._keys[0], kind)
        sealed = []
        for path in paths:
            data = path.encode("utf-8", "surrogateescape")
            mark = state.copy()
            mark.update(data)
            sealed.append(binascii.b2a_base64(mark.digest() + data, newline=False))
        texts = b"\n".join(sealed).translate(_URL_SAFE, b"=").decode()
        return texts.split("\n") if sealed else []

    def open(self, kind: str, text: str) -> str | None:
        """Return the path that a text stands for; None where it was not sealed here."""
        try:
            padded = text.encode("ascii") + b"=" * (-len(text) % 4)
            found = base64.b64decode(padded, b"-_", validate=True)
        except (ValueError, binascii.Error):
            return None
        mark, data = found[:MARK_BYTES], found[MARK_BYTES:]
        for key in self._keys:
            known = self._state(key, kind)
            known.update(data)
            if hmac.compare_digest(known.digest(), mark):
                return data.decode("utf-8", "surrogateescape")
        return None

    @property
    def digest(self) -> str:
        """What two sealers have in common that seal alike."""
        return hashlib.sha256(self._keys[0] + self._scope).hexdigest()[:12]

    def _state(self, key: bytes, kind: str) -> "hashlib.blake2b":
        """Return the keyed digest of a path, before the path."""
        head = self._scope + b"\0" + kind.encode() + b"\0"
        return hashlib.blake2b(head, key=key, digest_size=MARK_BYTES)


def location_of(table_id: UUID) -> str:
    """Return where clients think that a table is."""
    return f"s3://{BUCKET}/t/{table_id}"
