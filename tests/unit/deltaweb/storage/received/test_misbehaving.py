"""Tables of a provider whose answers are unusual, read by their users."""

import gzip
import io
import json
import zlib
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from deltaweb.table import DeltaTable
from tests.support import cases
from tests.support.stores.sharing_provider import Handler, Provider, Respond
from tests.unit.deltaweb.storage.received.test_actions import as_texts

ROWS: Final = {"id": [1, 2, 3], "name": ["a", "b", None]}
FIELDS: Final = [
    {"name": name, "type": kind, "nullable": True, "metadata": {}}
    for name, kind in (("id", "long"), ("name", "string"), ("day", "integer"))
]
Around = Callable[[Respond], Respond]


def parquet() -> bytes:
    file = io.BytesIO()
    pq.write_table(pa.table(ROWS), file)
    return file.getvalue()


DATA: Final = parquet()


def send_file(asked: Handler) -> None:
    """Answer with a range of the file, or with all of it."""
    wanted = asked.headers["Range"]
    if wanted is None:
        asked.say(200, DATA)
        return
    first, _, last = wanted.removeprefix("bytes=").partition("-")
    asked.say(206, DATA[int(first) : int(last) + 1])


def lines(url: str, *, is_delta: bool) -> list[dict[str, Any]]:
    """Return the answer about a table of one file."""
    metadata = {
        "id": "one",
        "format": {"provider": "parquet", "options": {}},
        "schemaString": json.dumps({"type": "struct", "fields": FIELDS}),
        "partitionColumns": ["day"],
        "configuration": {},
    }
    add = {
        "partitionValues": {"day": 5},
        "size": len(DATA),
        "stats": '{"numRecords":3}',
    }
    if not is_delta:
        file = {"url": url, "id": "f1", **add}
        return [
            {"protocol": {"minReaderVersion": 1}},
            {"metaData": metadata},
            {"file": file},
        ]
    add |= {"path": url, "modificationTime": 1, "dataChange": True}
    return [
        {"protocol": {"deltaProtocol": {"minReaderVersion": 1, "minWriterVersion": 2}}},
        {"metaData": {"deltaMetadata": metadata}},
        {"file": {"id": "f1", "deltaSingleAction": {"add": add}}},
    ]


def once(fault: Respond) -> Around:
    """Let every second request to a place fail."""

    def around(good: Respond) -> Respond:
        turns: dict[str, int] = {}

        def answer(asked: Handler) -> None:
            key = f"{asked.command} {asked.path}{asked.body!r}{asked.headers['Range']}"
            turns[key] = turns.get(key, 0) + 1
            (good if turns[key] % 2 == 0 else fault)(asked)

        return answer

    return around


def elsewhere(status: int) -> Around:
    """Redirect each request once."""

    def around(good: Respond) -> Respond:
        def answer(asked: Handler) -> None:
            if "r=1" in asked.path:
                good(asked)
                return
            mark = "&" if "?" in asked.path else "?"
            asked.say(status, b"moved", Location=f"{asked.path}{mark}r=1")

        return answer

    return around


def packed(coding: str, pack: Callable[[bytes], bytes]) -> Around:
    """Compress bodies that are whole."""

    def around(good: Respond) -> Respond:
        def answer(asked: Handler) -> None:
            plain = type(asked).say

            def say(status: int, body: bytes, **headers: str) -> None:
                said = (
                    {**headers, "Content-Encoding": coding}
                    if status == 200
                    else headers
                )
                plain(asked, status, pack(body) if status == 200 else body, **said)

            asked.say = say  # type: ignore[method-assign]
            good(asked)

        return answer

    return around


def status(code: int, **headers: str) -> Respond:
    return lambda asked: asked.say(code, b"not now", **headers)


def break_off(asked: Handler) -> None:
    asked.wfile.write(b"HTTP/1.0 200 OK\r\nContent-Length: 99999\r\n\r\n{}\n")


def same(good: Respond) -> Respond:
    return good


@pytest.mark.parametrize("is_delta", [False, True], ids=["parquet", "delta"])
@pytest.mark.parametrize(
    "numbers", [lambda value: value, as_texts], ids=["numbers", "texts"]
)
@cases(
    "around",
    {
        "as it should be": same,
        **{f"HTTP {code}": once(status(code)) for code in (429, 500, 502, 503, 504)},
        "a pause": once(status(429, Retry_After="0")),
        "no answer": once(lambda _asked: None),
        "half an answer": once(break_off),
        **{f"HTTP {code}": elsewhere(code) for code in (301, 302, 307, 308)},
        "gzip": packed("gzip", gzip.compress),
        "deflate": packed("deflate", zlib.compress),
    },
)
def test_its_table_is_read(
    provider: Provider, tmp_path: Path, around: Around, numbers, *, is_delta: bool
) -> None:
    url = f"{provider.endpoint}/f/a b/day=5/1%2F2.parquet?sig=x y"
    body = b"".join(
        json.dumps(numbers(line)).encode() + b"\n"
        for line in lines(url, is_delta=is_delta)
    )
    tokens = []

    def watched(asked: Handler) -> None:
        tokens.append(asked.headers["Authorization"])
        send_file(asked)

    table = "/shares/s/schemas/c/tables/t"
    version = {"Delta_Table_Version": "0"}
    provider.answers |= {
        f"{table}/version": around(lambda asked: asked.say(200, b"", **version)),
        f"{table}/query": around(lambda asked: asked.say(200, body, **version)),
        "/f/a%20b/day=5/1%2F2.parquet": around(watched),
    }
    profile = tmp_path / "acme.share"
    profile.write_text(provider.profile_text)

    read = DeltaTable(f"{profile}#s.c.t").snapshot().read()

    assert read.to_pydict() == {**ROWS, "day": [5, 5, 5]}
    assert set(tokens) == {None}
