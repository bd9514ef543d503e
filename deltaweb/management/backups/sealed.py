"""The bytes of a backup: a header line, then chunks that are encrypted in order.

Each chunk of 64 KiB is encrypted by AES-256-GCM. Its nonce is its number and whether it
is the last (STREAM), and the header is authenticated with it, so a file that was cut,
reordered or extended does not open. The key is derived by scrypt with a salt of the
file. A plain file has the same header, and its chunks are not encrypted.

Source: Hoang, Reyhanitabar, Rogaway, Vizár, "Online Authenticated-Encryption and its
Nonce-Reuse Misuse-Resistance", section 7 (STREAM); RFC 7914 (scrypt).
"""

import base64
import io
import json
import os
from typing import IO, Final, Protocol

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import AESGCM
from cryptography.hazmat.primitives.kdf.scrypt import Scrypt

from deltaweb.management.backups.errors import (
    BackupDamagedError,
    BackupPassphraseError,
)

MAGIC: Final = b"deltaweb-backup 1\n"
CHUNK_BYTES: Final = 64 << 10
TAG_BYTES: Final = 16
SCRYPT: Final = {"n": 1 << 17, "r": 8, "p": 1}
MOST: Final = {"n": 1 << 20, "r": 16, "p": 4}  # of a header that others wrote
MAX_HEADER_BYTES: Final = 400
_COUNTER_BYTES: Final = 11


class Chunks(Protocol):
    """How a chunk is written and read: encrypted, or as plain text."""

    extra_bytes: int

    def close(self, chunk: bytes, nonce: bytes) -> bytes: ...
    def open(self, chunk: bytes, nonce: bytes) -> bytes: ...


class PlainChunks:
    """Chunks as they are."""

    extra_bytes = 0

    def close(self, chunk: bytes, nonce: bytes) -> bytes:  # noqa: ARG002 (of the protocol)
        return chunk

    open = close


class SealedChunks:
    """Chunks that are encrypted."""

    extra_bytes = TAG_BYTES

    def __init__(self, key: bytes, header: bytes) -> None:
        self._cipher, self._header = AESGCM(key), header

    def close(self, chunk: bytes, nonce: bytes) -> bytes:
        return self._cipher.encrypt(nonce, chunk, self._header)

    def open(self, chunk: bytes, nonce: bytes) -> bytes:
        return self._cipher.decrypt(nonce, chunk, self._header)


def derive_key(passphrase: str, salt: bytes, costs: dict[str, int]) -> bytes:
    """Return the key of a file, of 32 bytes."""
    scrypt = Scrypt(salt=salt, length=32, n=costs["n"], r=costs["r"], p=costs["p"])
    return scrypt.derive(passphrase.encode())


def _nonce(number: int, *, is_last: bool) -> bytes:
    return number.to_bytes(_COUNTER_BYTES, "big") + bytes([is_last])


class SealedWriter(io.RawIOBase):
    """Writes a backup; `close` writes the last chunk, without which it is not whole.

    Args:
        passphrase: None for a plain file.
    """

    def __init__(self, file: IO[bytes], passphrase: str | None) -> None:
        self._file, self._left, self._number = file, bytearray(), 0
        salt = os.urandom(16)
        facts: dict[str, object] = {"sealed": passphrase is not None}
        if passphrase is not None:
            facts |= {"salt": base64.b64encode(salt).decode(), **SCRYPT}
        header = MAGIC + json.dumps(facts).encode() + b"\n"
        self._chunks: Chunks = PlainChunks()
        if passphrase is not None:
            self._chunks = SealedChunks(derive_key(passphrase, salt, SCRYPT), header)
        file.write(header)

    def writable(self) -> bool:
        return True

    def write(self, data: object) -> int:
        piece = bytes(data)  # type: ignore[call-overload]  # any buffer, as of io
        self._left += piece
        while len(self._left) > CHUNK_BYTES:  # the last chunk is written by `close`
            self._put(bytes(self._left[:CHUNK_BYTES]), is_last=False)
            del self._left[:CHUNK_BYTES]
        return len(piece)

    def close(self) -> None:
        if not self.closed:
            self._put(bytes(self._left), is_last=True)
        super().close()

    def _put(self, chunk: bytes, *, is_last: bool) -> None:
        nonce = _nonce(self._number, is_last=is_last)
        self._file.write(self._chunks.close(chunk, nonce))
        self._number += 1


class SealedReader(io.RawIOBase):
    """Reads a backup, chunk by chunk; nothing is returned that was not authenticated.

    Args:
        name: The name of the file, for errors.
        passphrase: Called if the file is encrypted.

    Raises:
        BackupDamagedError: If it is no backup, or was cut.
        BackupPassphraseError: If a chunk does not open.
    """

    def __init__(self, file: IO[bytes], name: str, passphrase: "Passphrase") -> None:
        self._file, self._name, self._number = file, name, 0
        self._open, self._is_over = b"", False
        self._chunks = self._read_header(passphrase)
        self._next = self._read_chunk()

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: object) -> int:
        view = memoryview(buffer)  # type: ignore[arg-type]  # any buffer, as of io
        while not self._open and not self._is_over:
            self._open_next()
        count = min(len(view), len(self._open))
        view[:count] = self._open[:count]
        self._open = self._open[count:]
        return count

    def _read_header(self, passphrase: "Passphrase") -> Chunks:
        if self._file.read(len(MAGIC)) != MAGIC:
            raise self._damaged(problem="it does not begin as a backup")
        line = self._file.readline(MAX_HEADER_BYTES)
        try:
            facts = json.loads(line)
            if facts["sealed"] is False:
                return PlainChunks()
            costs = {name: int(facts[name]) for name in SCRYPT}
            salt = base64.b64decode(facts["salt"], validate=True)
            if any(not 1 <= costs[name] <= MOST[name] for name in MOST):
                raise self._damaged(problem="its header needs too much work")
            return SealedChunks(derive_key(passphrase(), salt, costs), MAGIC + line)
        except (ValueError, TypeError, LookupError, RecursionError) as error:
            raise self._damaged(problem="its header cannot be read") from error

    def _read_chunk(self) -> bytes:
        return self._file.read(CHUNK_BYTES + self._chunks.extra_bytes)

    def _open_next(self) -> None:
        chunk, self._next = self._next, self._read_chunk()
        self._is_over = not self._next
        nonce = _nonce(self._number, is_last=self._is_over)
        try:
            self._open = self._chunks.open(chunk, nonce)
        except (InvalidTag, ValueError) as error:
            if self._number:
                raise self._damaged(problem="it was cut or changed") from error
            raise BackupPassphraseError(file=self._name) from error
        self._number += 1

    def _damaged(self, *, problem: str) -> BackupDamagedError:
        return BackupDamagedError(file=self._name, problem=problem)


class Passphrase(Protocol):
    """Returns the passphrase of a file, once it is needed."""

    def __call__(self) -> str: ...
