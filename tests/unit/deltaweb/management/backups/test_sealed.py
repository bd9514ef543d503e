"""The bytes of a backup open only whole, in order and with the passphrase."""

import io

import pytest

from deltaweb.management.backups.errors import (
    BackupDamagedError,
    BackupPassphraseError,
)
from deltaweb.management.backups.sealed import (
    CHUNK_BYTES,
    MAGIC,
    TAG_BYTES,
    SealedReader,
    SealedWriter,
)

WORDS = "three words here"


def sealed(content: bytes, passphrase: str | None = WORDS) -> bytes:
    file = io.BytesIO()
    writer = SealedWriter(file, passphrase)
    writer.write(content)
    writer.close()
    return file.getvalue()


def opened(data: bytes, passphrase: str = WORDS) -> bytes:
    reader = SealedReader(io.BytesIO(data), "x.backup", lambda: passphrase)
    return io.BufferedReader(reader).read()


@pytest.fixture(scope="module")
def whole() -> bytes:
    """Three chunks, of which the last is short."""
    return sealed(b"a" * CHUNK_BYTES + b"b" * CHUNK_BYTES + b"c" * 10)


def body_at(data: bytes) -> int:
    return data.index(b"\n", len(MAGIC)) + 1


@pytest.mark.parametrize("size", [0, 1, CHUNK_BYTES, CHUNK_BYTES + 1])
@pytest.mark.parametrize("passphrase", [WORDS, None])
def test_content_of_any_size_is_read_again(size: int, passphrase: str | None) -> None:
    content = bytes(range(256)) * (size // 256) + b"x" * (size % 256)

    data = sealed(content, passphrase)

    assert opened(data) == content
    if passphrase and size > 256:
        assert content[:64] not in data


def test_another_passphrase_opens_nothing(whole: bytes) -> None:
    with pytest.raises(BackupPassphraseError):
        opened(whole, "other words")


@pytest.mark.parametrize("cut", [1, 10 + TAG_BYTES, 10 + TAG_BYTES + CHUNK_BYTES])
def test_a_cut_file_does_not_open(whole: bytes, cut: int) -> None:
    with pytest.raises(BackupDamagedError):
        opened(whole[:-cut])


def test_reordered_chunks_do_not_open(whole: bytes) -> None:
    begin, size = body_at(whole), CHUNK_BYTES + TAG_BYTES
    first, second = whole[begin : begin + size], whole[begin + size : begin + 2 * size]
    swapped = whole[:begin] + second + first + whole[begin + 2 * size :]

    with pytest.raises(BackupPassphraseError):
        opened(swapped)


def test_added_bytes_do_not_open(whole: bytes) -> None:
    with pytest.raises(BackupDamagedError):
        opened(whole + b"more")


def test_each_changed_bit_of_the_header_or_a_chunk_is_noticed(whole: bytes) -> None:
    for place in (0, len(MAGIC) + 4, body_at(whole) + 5, len(whole) - 1):
        changed = bytearray(whole)
        changed[place] ^= 1
        with pytest.raises((BackupDamagedError, BackupPassphraseError)):
            opened(bytes(changed))


@pytest.mark.parametrize(
    "header",
    [
        b"",
        b"[]",
        b'{"sealed": true}',
        b'{"sealed": true, "salt": "AAAA", "n": 1073741824, "r": 8, "p": 1}',
        b'{"sealed": true, "salt": "AAAA", "n": 3, "r": 8, "p": 1}',
        b"[" * 300,
    ],
)
def test_a_hostile_header_is_refused(header: bytes) -> None:
    with pytest.raises(BackupDamagedError):
        opened(MAGIC + header + b"\n" + b"x" * 100)


def test_the_same_content_is_never_encrypted_alike() -> None:
    assert sealed(b"same")[body_at(sealed(b"same")) :] != sealed(b"same")[-20:]
    assert sealed(b"same") != sealed(b"same")
