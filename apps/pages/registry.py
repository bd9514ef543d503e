"""What apps above add to those below: one kind of thing a registry."""

from collections.abc import Callable, Hashable, Iterator
from typing import Generic, TypeVar

T = TypeVar("T")


class Registry(Generic[T]):
    """Things of one kind that apps add when Django is ready, in the order added.

    What has the key of an earlier one replaces it; without a `key`, each thing is its
    own. So an app may be made ready twice.
    """

    def __init__(self, key: Callable[[T], Hashable] | None = None) -> None:
        self._key = key or (lambda thing: thing)
        self._found: dict[Hashable, T] = {}

    def __iter__(self) -> Iterator[T]:
        return iter(tuple(self._found.values()))

    def register(self, *things: T) -> None:
        """Add things."""
        self._found.update((self._key(thing), thing) for thing in things)

    def remove(self, thing: T) -> None:
        """Take a thing out; one that is not there is no error."""
        self._found.pop(self._key(thing), None)
