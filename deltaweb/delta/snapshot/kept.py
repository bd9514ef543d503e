"""Versions that a process keeps, so that the next question about them reads no log.

A process that answers many questions says so (`kept.begin`); all others keep nothing.
A version is the one that was read as long as its commit is: a table that was made again
at the same place, or went on from a backup, has another. What two stores that are
opened alike have in common is their `key`: with other options nothing is found.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Final, Protocol, TypeAlias, TypeVar

from deltaweb.delta.log.blocks import SelectedBlock
from deltaweb.delta.log.paths import commit_name
from deltaweb.delta.log.store import FileStatus, LogStore
from deltaweb.environment.kept_values import KeptValues

KEPT_BYTES: Final = 128 << 20
LEAST_BYTES: Final = 16 << 10  # of schemas, and of what Arrow does not count

Key: TypeAlias = tuple[object, int]


class KeptState(Protocol):
    """What is kept of a version: of `SnapshotState`, what matters here."""

    @property
    def version(self) -> int: ...

    @property
    def blocks(self) -> Sequence[SelectedBlock]: ...

    @property
    def commit_status(self) -> FileStatus | None:
        """Size and time of its commit; None without one."""


class StateReading(Protocol):
    """What somebody reads of a version: of `Snapshot`, what matters here."""

    @property
    def state(self) -> Any:  # noqa: ANN401 (a `SnapshotState`)
        """What the log says of it."""

    @property
    def typed_bytes(self) -> int:
        """What it has made of that meanwhile."""


S = TypeVar("S", bound=KeptState)
R = TypeVar("R", bound=StateReading)


@dataclass(slots=True)
class _KeptVersion:
    state: Any  # a `SnapshotState`
    snapshots: dict[str, Any] = field(default_factory=dict)  # `Snapshot` by zone

    @property
    def size_bytes(self) -> int:
        blocks = sum(
            part.block.files.nbytes + (part.block.held_bytes or 0)
            for part in self.state.blocks
        )
        typed = sum(snapshot.typed_bytes for snapshot in self.snapshots.values())
        return int(LEAST_BYTES + blocks + typed)


class KeptVersions:
    """The versions that this process keeps: none before it begins to."""

    def __init__(self) -> None:
        self._versions: KeptValues[Key, _KeptVersion] | None = None

    def begin(self, limit_bytes: int = KEPT_BYTES) -> None:
        """Keep versions from now on, of so many bytes in all."""
        self._versions = KeptValues(limit_bytes)

    def end(self) -> None:
        self._versions = None

    def forget(self) -> None:
        if self._versions is not None:
            self.begin(self._versions.limit_bytes)

    def find(self, store: LogStore, version: int) -> Any:  # noqa: ANN401 (as below)
        """Return the state of a version that is kept, and still is that of the log."""
        held = self._held(store, version)
        return (
            None if held is None or not is_unchanged(store, held.state) else held.state
        )

    def nearest(self, store: LogStore, version: int | None) -> Any:  # noqa: ANN401 (a `SnapshotState` or None)
        """Return the newest state that is kept, up to a version if one is given."""
        if self._versions is None:
            return None
        key = _key(store)
        found = [
            at
            for place, at in self._versions.known()
            if place == key and (version is None or at <= version)
        ]
        held = self._held(store, max(found)) if found else None
        return None if held is None else held.state

    def keep(self, store: LogStore, state: S) -> S:
        if self._versions is None or state.commit_status is None:
            return state
        if (key := _key(store)) is not None:
            held = _KeptVersion(state)
            self._versions.keep((key, state.version), held, held.size_bytes)
        return state

    def snapshot(self, store: LogStore, made: R, *, time_zone: str) -> R:
        """Return the snapshot of a state that is kept, which knows more than a new one.

        Args:
            time_zone: The zone in which it takes SQL: another has its own.
        """
        held = self._held(store, made.state.version)
        if held is None or held.state is not made.state:
            return made
        known: R = held.snapshots.setdefault(time_zone, made)
        return known

    def _held(self, store: LogStore, version: int) -> _KeptVersion | None:
        key = _key(store)
        if self._versions is None or key is None:
            return None
        found = self._versions.find((key, version))
        if found is None:
            return None
        # It may have grown by what was asked of it.
        return self._versions.keep((key, version), found[0], found[0].size_bytes)


kept: Final = KeptVersions()


def is_unchanged(store: LogStore, state: KeptState) -> bool:
    """Tell whether the commit of a version is the one that it was read from."""
    known = state.commit_status
    try:
        return known is not None and store.status(commit_name(state.version)) == known
    except FileNotFoundError:
        return False


def _key(store: LogStore) -> object:
    """Return what stores have in common that are opened alike; None of any other."""
    return getattr(store, "key", None)
