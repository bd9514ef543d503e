"""Names of objects: opaque, and none that was not given out."""

import base64
from uuid import UUID

import pytest

from deltaweb.iceberg.access.object_keys import PathSealer, parse_key
from tests.support import cases

TABLE = UUID("0a0b0c0d-0000-4000-8000-000000000001")
PATHS = ["part-0.parquet", "a=%2520 ?#/é\udc80.parquet", "x" * 900]
SEALER = PathSealer([b"new", b"old"], "a table")


@pytest.mark.parametrize("path", PATHS)
def test_a_path_is_known_again_by_what_stands_for_it(path: str) -> None:
    (text,) = SEALER.seal("data", [path])

    assert text.isascii()
    assert not set(text) & set("/?#%=")
    assert SEALER.open("data", text) == path
    assert PathSealer([b"newest", b"new"], "a table").open("data", text) == path


@cases(
    "opener",
    {
        "of another scope": PathSealer([b"new"], "another table"),
        "by another key": PathSealer([b"other"], "a table"),
    },
)
def test_it_opens_nothing_else(opener: PathSealer) -> None:
    (text,) = SEALER.seal("data", PATHS[:1])

    assert opener.open("data", text) is None
    assert SEALER.open("vectors", text) is None
    assert (
        SEALER.open("data", f"A{text[1:]}" if text[0] != "A" else f"B{text[1:]}")
        is None
    )


@pytest.mark.parametrize("text", ["", "A", "AAAAA", "-" * 40])
def test_what_was_never_sealed_opens_nothing(text: str) -> None:
    assert SEALER.open("data", text) is None


def test_keys_say_what_they_name() -> None:
    key = parse_key(f"t/{TABLE}/metadata/12-0ab/0-vectors.avro")

    assert key is not None
    assert (key.table_id, key.version, key.mark) == (TABLE, 12, "0ab")
    assert (key.part, key.kind) == ("0-vectors.avro", "")
    data = parse_key(f"t/{TABLE}/data/QUJD.parquet")
    assert data is not None
    assert (data.version, data.kind, data.text) == (None, "data", "QUJD")


@pytest.mark.parametrize(
    "key",
    [
        "",
        "t/",
        f"t/{TABLE}",
        f"t/{TABLE}/data/../../etc/passwd.parquet",
        f"t/{TABLE}/data/a/b.parquet",
        f"t/{TABLE}/data/é.parquet",
        f"t/{TABLE}/metadata/01-0/list.avro",
        f"t/{TABLE}/metadata/{'9' * 30}-0/list.avro",
        f"t/{TABLE}/metadata/1-0/../list.avro",
        f"t/{TABLE}/metadata/1-0.json\n",
        f"t/{'0' * 36}/data/QUJD.parquet",
        f"t/{str(TABLE).upper()}/data/QUJD.parquet",
        f"t/{TABLE}/data/{'A' * 20_000}.parquet",
    ],
)
def test_other_keys_name_nothing(key: str) -> None:
    assert parse_key(key) is None


def unpacked(text: str) -> tuple[bytes, bytes]:
    """The mark of a text, and the path that it stands for."""
    data = base64.urlsafe_b64decode(text + "=" * (-len(text) % 4))
    return data[:12], data[12:]


def packed(mark: bytes, path: bytes) -> str:
    return base64.urlsafe_b64encode(mark + path).decode().rstrip("=")


@cases(
    "scope, kind, path",
    {
        "a longer scope": ("a tabled", "ata", b"path"),
        "a shorter scope": ("a tab", "ledata", b"path"),
        "a longer kind": ("a table", "datap", b"ath"),
        "a shorter kind": ("a table", "dat", b"apath"),
    },
)
def test_what_is_sealed_is_not_cut_elsewhere(scope, kind, path):
    mark, data = unpacked(SEALER.seal("data", ["path"])[0])
    assert data == b"path"

    assert PathSealer([b"new"], scope).open(kind, packed(mark, path)) is None
    assert SEALER.open("data", packed(mark, data)) == "path"


def test_a_mark_cannot_be_found_by_trying() -> None:
    mark, _ = unpacked(SEALER.seal("data", [""])[0])

    assert len(mark) == 12
    assert SEALER.open("data", packed(mark[:2], b"")) is None


def test_sealers_that_seal_alike_have_one_digest() -> None:
    assert SEALER.digest == PathSealer([b"new"], "a table").digest
    assert SEALER.digest != PathSealer([b"new"], "another table").digest
    assert SEALER.digest != PathSealer([b"old"], "a table").digest


def test_a_table_has_one_spelling() -> None:
    assert parse_key(f"t/{TABLE.hex}----/data/QUJD.parquet") is None
