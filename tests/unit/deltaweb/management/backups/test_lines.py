"""The document in a backup is read to its end, or refused."""

import gzip
import io
import json
from collections import deque
from collections.abc import Callable

import pytest

from deltaweb.management.backups.errors import BackupDamagedError
from deltaweb.management.backups.lines import FREE_BYTES, LineReader, LineWriter
from deltaweb.management.backups.sealed import SealedWriter

HEAD = {
    "made_by": "0.9.0",
    "made_at": "2026-11-30T00:00:00+00:00",
    "engine": "sqlite",
    "migrations": [["accounts", "0001_initial"]],
    "secret_keys": ["k"],
}


def written() -> bytes:
    file = io.BytesIO()
    lines = LineWriter(file, None)
    lines.put(HEAD)
    lines.begin("a.one", ["id", "name"])
    lines.row([1, "x\0y\ud800"])
    lines.begin("a.two", ["id"])
    assert lines.close() == {"a.one": 1, "a.two": 0}
    return file.getvalue()


def read(data: bytes) -> dict[str, list[list[object]]]:
    lines = LineReader(io.BytesIO(data), "x.backup", len(data), lambda: "")
    assert lines.head.made_by == "0.9.0"
    return {model: list(rows) for model, _, rows in lines.models()}


def changed(change: Callable[[list[bytes]], None]) -> bytes:
    """A plain backup whose lines were changed, packed as before."""
    data = written()
    begin = data.index(b"\n", data.index(b"\n") + 1) + 1
    lines = gzip.decompress(data[begin:]).splitlines(keepends=True)
    change(lines)
    return packed(b"".join(lines))


def packed(content: bytes) -> bytes:
    file = io.BytesIO()
    sealed = SealedWriter(file, None)
    with gzip.GzipFile(fileobj=sealed, mode="wb") as target:
        target.write(content)
    sealed.close()
    return file.getvalue()


def test_rows_are_read_as_they_were_written() -> None:
    assert read(written()) == {"a.one": [[1, "x\0y\ud800"]], "a.two": []}


@pytest.mark.parametrize(
    "change",
    [
        lambda lines: lines.__setitem__(0, b"{}\n"),
        lambda lines: lines.__setitem__(0, b"[]\n"),
        lambda lines: lines.__setitem__(
            0, json.dumps(HEAD | {"x": 1}).encode() + b"\n"
        ),
        lambda lines: lines.__setitem__(2, b"[1]\n"),
        lambda lines: lines.__setitem__(2, b'[2,"x"]\n'),
        lambda lines: lines.__setitem__(2, b"nonsense\n"),
        lambda lines: lines.__setitem__(2, b"[" * 100_000 + b"\n"),
        lambda lines: lines.insert(2, lines[2]),
        lambda lines: lines.insert(3, lines[1]),
        lambda lines: lines.pop(2),
        lambda lines: lines.pop(),
        lambda lines: lines.append(b"{}\n"),
    ],
    ids=[
        *("no head", "a list as head", "an unknown key", "a short row"),
        *("a wrong type", "no JSON", "deep nesting", "a row twice", "a model twice"),
        *("a row less", "no end", "lines after the end"),
    ],
)
def test_changed_lines_are_refused(change: Callable[[list[bytes]], None]) -> None:
    with pytest.raises(BackupDamagedError):
        read(changed(change))


@pytest.mark.parametrize("content", [b"", b"text", b"\x1f\x8b\x08"])
def test_what_is_not_packed_is_refused(content: bytes) -> None:
    file = io.BytesIO()
    sealed = SealedWriter(file, None)
    sealed.write(content)
    sealed.close()

    with pytest.raises(BackupDamagedError):
        read(file.getvalue())


def test_a_bomb_is_refused_before_it_is_unpacked_whole() -> None:
    row = json.dumps([1, "x" * (1 << 20)]).encode() + b"\n"
    file = io.BytesIO()
    sealed = SealedWriter(file, None)
    with gzip.GzipFile(fileobj=sealed, mode="wb", compresslevel=9) as target:
        target.write(json.dumps(HEAD).encode() + b"\n")
        target.write(b'{"model":"a.one","fields":["id","name"]}\n')
        for _ in range(2 * FREE_BYTES // len(row)):
            target.write(row)
    sealed.close()

    data = file.getvalue()
    lines = LineReader(io.BytesIO(data), "x.backup", len(data), lambda: "")

    with pytest.raises(BackupDamagedError, match="tightly"):
        deque((row for _, _, rows in lines.models() for row in rows), maxlen=0)
