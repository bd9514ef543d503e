"""Hashing of passwords, of which a process does a few at once.

A hash is made to be slow: a second of a processor. Without a bound, one caller with
many passwords takes all processors and all threads of the web server; without a place
for each address, all the places there are.
"""

from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from threading import BoundedSemaphore, Condition
from typing import Final

from django.conf import settings
from django.contrib.auth.hashers import PBKDF2PasswordHasher

from apps.accounts.errors import PasswordsBusyError

MAX_WAIT_S: Final = 10.0


class HashSlots:
    """Places for those who hash, and for those who wait until they may.

    Args:
        waiting: How many wait for that; more are refused at once.
    """

    def __init__(
        self, *, at_once: int, waiting: int, max_wait_s: float = MAX_WAIT_S
    ) -> None:
        self._inside = BoundedSemaphore(at_once + waiting)
        self._hashing = BoundedSemaphore(at_once)
        self._max_wait_s = max_wait_s

    @contextmanager
    def taken(self) -> Iterator[None]:
        """Hold a place while hashing."""
        if not self._inside.acquire(blocking=False):
            raise PasswordsBusyError
        try:
            if not self._hashing.acquire(timeout=self._max_wait_s):
                raise PasswordsBusyError
            try:
                yield
            finally:
                self._hashing.release()
        finally:
            self._inside.release()


class AddressSlots:
    """A place for each address: one password of it is checked, one waits for that.

    Args:
        waiting: How many wait; more are refused at once.
    """

    def __init__(self, *, waiting: int = 1, max_wait_s: float = MAX_WAIT_S) -> None:
        self._waiting = waiting
        self._max_wait_s = max_wait_s
        self._changed = Condition()
        self._inside: Counter[str] = Counter()
        self._checking: set[str] = set()

    @contextmanager
    def taken(self, network: str) -> Iterator[None]:
        """Hold the place of an address while its password is checked."""
        with self._changed:
            if self._inside[network] > self._waiting:
                raise PasswordsBusyError
            self._inside[network] += 1
            if not self._changed.wait_for(
                lambda: network not in self._checking, self._max_wait_s
            ):
                self._leave(network)
                raise PasswordsBusyError
            self._checking.add(network)
        try:
            yield
        finally:
            with self._changed:
                self._checking.remove(network)
                self._leave(network)
                self._changed.notify_all()

    def _leave(self, network: str) -> None:
        self._inside[network] -= 1
        if not self._inside[network]:
            del self._inside[network]


address_slots: Final = AddressSlots()


@cache
def slots_of_process(num_threads: int) -> HashSlots:
    """Return the places of this process: a quarter of its threads hash, one waits each.

    The other half goes on answering.
    """
    at_once = max(1, num_threads // 4)
    return HashSlots(at_once=at_once, waiting=at_once)


class BoundedPBKDF2PasswordHasher(PBKDF2PasswordHasher):
    """Django's own hashes, of which a process makes a few at once."""

    def encode(self, password: str, salt: str, iterations: int | None = None) -> str:
        """Hash a password."""
        with slots_of_process(settings.WEB_THREADS).taken():
            return super().encode(password, salt, iterations)
