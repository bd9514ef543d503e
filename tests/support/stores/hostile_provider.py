"""A provider that answers slowly, without an end, or with more than it should."""

import contextlib
import gzip
import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import count
from typing import Final

from deltaweb.storage.received.profile import SharedName
from tests.support.stores.sharing_provider import Handler, Provider, provider_running

TABLE: Final = SharedName("s", "c", "t")
DRIP_S: Final = 0.05
HEAD: Final = [
    {"protocol": {"deltaProtocol": {"minReaderVersion": 1, "minWriterVersion": 2}}},
    {
        "metaData": {
            "deltaMetadata": {
                "id": "one",
                "format": {"provider": "parquet", "options": {}},
                "schemaString": '{"type":"struct","fields":[]}',
                "partitionColumns": [],
                "configuration": {},
                "createdTime": 1,
            }
        }
    },
]


def file_line(number: int) -> bytes:
    """Return the line of one file."""
    add = {
        "path": f"http://127.0.0.1/{number}",
        "partitionValues": {},
        "size": 1,
        "modificationTime": 1,
        "dataChange": True,
    }
    line = {"file": {"id": f"f{number}", "deltaSingleAction": {"add": add}}}
    return json.dumps(line).encode() + b"\n"


@dataclass
class Hostile:
    """A provider that shares one table, and what it does about it.

    Attributes:
        is_asked: Set while a look waits for an answer that drips.
        is_released: Ends answers that would go on for ever.
    """

    provider: Provider
    is_asked: threading.Event = field(default_factory=threading.Event)
    is_released: threading.Event = field(default_factory=threading.Event)

    @property
    def version_path(self) -> str:
        return f"{TABLE.path}/version"

    @property
    def query_path(self) -> str:
        return f"{TABLE.path}/query"

    def drips(self, path: str, part: bytes = b"x") -> None:
        """Send a byte, or a header, at a time."""

        def answer(asked: Handler) -> None:
            is_body = len(part) == 1
            asked.wfile.write(b"HTTP/1.0 200 OK\r\n" + b"\r\n" * is_body)
            self.is_asked.set()
            with contextlib.suppress(OSError):  # of a client that is away
                while not self.is_released.wait(DRIP_S):
                    asked.wfile.write(part)

        self.provider.answers[path] = answer

    def goes_on(self, path: str, *, line: bytes = b"") -> None:
        """Send lines without an end, each of another file or all the same."""

        def answer(asked: Handler) -> None:
            asked.wfile.write(b"HTTP/1.0 200 OK\r\nDelta-Table-Version: 1\r\n\r\n")
            with contextlib.suppress(OSError):
                for head in HEAD:
                    asked.wfile.write(json.dumps(head).encode() + b"\n")
                for number in count():
                    asked.wfile.write(line or file_line(number))

        self.provider.answers[path] = answer

    def turns_pages(self, path: str, *, is_same: bool = False) -> None:
        """Answer each page of a list with the token of another."""
        tokens = count()

        def answer(asked: Handler) -> None:
            token = "again" if is_same else str(next(tokens))
            page = {"items": [{"name": "s"}], "nextPageToken": token}
            asked.say(200, json.dumps(page).encode())

        self.provider.answers[path] = answer

    def packs(self, path: str, size: int) -> None:
        """Answer with a small body that says it is packed, and is large unpacked."""
        body = gzip.compress(bytes(size))
        self.provider.answers[path] = lambda asked: asked.say(
            200, body, Content_Encoding="gzip"
        )

    def is_at(self, version: int) -> None:
        """Say which version the table is at."""
        self.provider.puts(self.version_path, {}, Delta_Table_Version=str(version))


@contextmanager
def hostile_running() -> Iterator[Hostile]:
    """Run a provider whose answers end with the block."""
    with provider_running() as provider:
        hostile = Hostile(provider)
        provider.lists(str(TABLE))
        try:
            yield hostile
        finally:
            hostile.is_released.set()
