"""Limits that all processes of one machine share, each in a file of the home.

A key falls into a set of eight slots by its hash, and takes the one that has its mark,
or the one that is nearest to full: a full bucket is as good as none. A set is changed
under a lock of its bytes, which the kernel drops when a process dies.

The file is read and written by calls, not through a mapping: where a disk is full, or
fails, a call raises an error, and a mapping ends the process by SIGBUS.
"""

import fcntl
import hashlib
import logging
import math
import os
import struct
import weakref
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from threading import Lock
from typing import Final

from django.conf import settings

NUM_SETS: Final = 1024
SLOTS_A_SET: Final = 8
MARK_BYTES: Final = 16
# The mark of a key, how much is in its bucket, and when that was.
_SLOT: Final = struct.Struct(f"={MARK_BYTES}sdd")
_SET_BYTES: Final = SLOTS_A_SET * _SLOT.size
_FILE_BYTES: Final = NUM_SETS * _SET_BYTES
_FREE: Final = bytes(MARK_BYTES)
_NUM_LOCKS: Final = 64


class TokenBuckets:
    """Buckets that fill at a rate up to a burst, and are taken from.

    Args:
        path: The file; made when it is missing. Every process names the same.
        debt: How far below nothing a bucket can be taken from: who goes on in spite
            of having to wait waits longer.
    """

    def __init__(
        self, path: Path, *, rate: float, burst: float, debt: float = 0.0
    ) -> None:
        self._path = path
        self._rate = rate
        self._burst = burst
        self._debt = debt
        self._opening = Lock()
        self._opened_by: int | None = None  # the process: locks do not outlive a fork
        self._descriptor = -1
        self._locks = [Lock() for _ in range(_NUM_LOCKS)]

    def take(self, key: bytes, *, now_s: float) -> float:
        """Take one from the bucket of `key`.

        Args:
            now_s: Seconds since this machine started; every process has the same.

        Returns:
            0.0 when there was one to take; else how many seconds until there is.
            Nothing is taken then but for a debt.
        """
        self._open()
        mark, first = _place(key)
        with self._locked(first):
            offset, held = self._find(first, mark, now_s)
            if held - 1.0 >= -self._debt:
                self._write(first + offset, mark, held - 1.0, now_s)
            return max(0.0, (1.0 - held) / self._rate)

    def give_back(self, key: bytes, *, now_s: float) -> None:
        """Put one back into the bucket of `key`, which holds a burst at most.

        Args:
            key: Whose bucket it is.
            now_s: As `take` has it.
        """
        self._open()
        mark, first = _place(key)
        with self._locked(first):
            offset, held = self._find(first, mark, now_s)
            self._write(first + offset, mark, min(self._burst, held + 1.0), now_s)

    def _find(self, first: int, mark: bytes, now_s: float) -> tuple[int, float]:
        """Return a key's slot in a set and what its bucket holds.

        The fullest slot is that of a key which has none.
        """
        slots = os.pread(self._descriptor, _SET_BYTES, first)
        slots = slots.ljust(_SET_BYTES, b"\0")  # of a file that was cut
        fullest, most = 0, -math.inf
        for offset in range(0, _SET_BYTES, _SLOT.size):
            found, held, since_s = _SLOT.unpack_from(slots, offset)
            held = (
                self._burst if found == _FREE else self._refilled(held, since_s, now_s)
            )
            if found == mark:
                return offset, held
            if held > most:
                fullest, most = offset, held
        return fullest, self._burst

    def _write(self, place: int, mark: bytes, held: float, now_s: float) -> None:
        os.pwrite(self._descriptor, _SLOT.pack(mark, held, now_s), place)

    def _refilled(self, held: float, since_s: float, now_s: float) -> float:
        """Return what a bucket holds now; one of before a restart is full."""
        if not -self._debt <= held <= self._burst or since_s > now_s + 1.0:
            return self._burst
        return min(self._burst, held + max(0.0, now_s - since_s) * self._rate)

    def _open(self) -> None:
        """Open the file, once a process, with room on the disk for all of it."""
        with self._opening:
            if self._opened_by == os.getpid():
                return
            flags = os.O_RDWR | os.O_CREAT | os.O_CLOEXEC
            descriptor = os.open(self._path, flags, 0o600)
            try:
                os.posix_fallocate(descriptor, 0, _FILE_BYTES)
                os.ftruncate(descriptor, _FILE_BYTES)
            except OSError:
                os.close(descriptor)
                raise
            weakref.finalize(self, os.close, descriptor).atexit = False
            self._descriptor = descriptor
            self._opened_by = os.getpid()

    @contextmanager
    def _locked(self, first: int) -> Iterator[None]:
        """Hold the bytes of a set: against other processes, and our own threads."""
        with self._locks[first // _SET_BYTES % _NUM_LOCKS]:
            fcntl.lockf(self._descriptor, fcntl.LOCK_EX, _SET_BYTES, first)
            try:
                yield
            finally:
                fcntl.lockf(self._descriptor, fcntl.LOCK_UN, _SET_BYTES, first)


def _place(key: bytes) -> tuple[bytes, int]:
    """Return the mark of a key, and where its set begins."""
    digest = hashlib.blake2b(key, digest_size=MARK_BYTES + 2).digest()
    number = int.from_bytes(digest[MARK_BYTES:], "big")
    return digest[:MARK_BYTES], number % NUM_SETS * _SET_BYTES


logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True, kw_only=True)
class RateLimit:
    """How often something may be done by one key.

    Attributes:
        file: Name of the file in the home; every limit has its own.
        rate_per_s: How often a second, for good.
        burst: How often at once.
        debt: How far beyond that it is still counted, so that waits grow.
    """

    file: str
    rate_per_s: float
    burst: float
    debt: float = 0.0

    def take(self, key: bytes, *, now_s: float) -> float:
        """Count once for `key`; return how many seconds it has to wait, 0.0 for none.

        Without the file nobody is refused.
        """
        try:
            return self._buckets().take(key, now_s=now_s)
        except OSError as error:
            logger.warning("Rates are not limited: %s", error.strerror)
            return 0.0

    def give_back(self, key: bytes, *, now_s: float) -> None:
        """Count once less for `key`: what was taken ahead turned out not to count."""
        try:
            self._buckets().give_back(key, now_s=now_s)
        except OSError as error:
            logger.warning("Rates are not limited: %s", error.strerror)

    def _buckets(self) -> TokenBuckets:
        path = Path(settings.HOME) / self.file
        return _opened(path, self.rate_per_s, self.burst, self.debt)


@lru_cache(maxsize=16)
def _opened(path: Path, rate: float, burst: float, debt: float) -> TokenBuckets:
    return TokenBuckets(path, rate=rate, burst=burst, debt=debt)
