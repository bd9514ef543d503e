"""The newest checkpoint of a log, by one bounded look at storage.

A page shows what the database knows without it where storage does not answer.
"""

from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final

from deltaweb.delta.errors import DeltaError
from deltaweb.delta.log.paths import checkpoint_name
from deltaweb.delta.log.segment import Checkpoint, load_listing, newest_checkpoint
from deltaweb.delta.log.store import LogStore
from deltaweb.web.tables.index.rows import moment
from deltaweb.web.tables.models import Table
from deltaweb.web.tables.storage.bounded_read import StorageSlowError, read_within
from deltaweb.web.tables.storage.opening import open_table, roots_of_server

MAX_SIZED_PARTS: Final = 16  # files that are asked for their size


@dataclass(frozen=True, slots=True, kw_only=True)
class KnownCheckpoint:
    """A complete checkpoint that the log holds.

    Attributes:
        version: Its version.
        parts: Its files; None for a single one of the classic name.
        size_bytes: Bytes of its files; None where they are many.
        written_at: When its first file was written.
    """

    version: int
    parts: int | None
    size_bytes: int | None
    written_at: datetime

    def describe(self) -> dict[str, Any]:
        """Return it as `.json` shows it."""
        return {
            "version": self.version,
            "parts": self.parts,
            "size_bytes": self.size_bytes,
            "written_at": self.written_at,
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class LogLook:
    """What storage says of the checkpoints at or before a version.

    Attributes:
        checkpoint: The newest of them; None without one, or with a `problem`.
        problem: Why storage did not say, or "".
    """

    checkpoint: KnownCheckpoint | None
    problem: str = ""


def look_at_log(table: Table, version: int) -> LogLook:
    """Look up the newest checkpoint at or before a version, within a second."""
    roots = roots_of_server()
    try:
        log = open_table(table, roots=roots)
        found = read_within(lambda: _newest(log.store, version))
    except StorageSlowError as error:
        return LogLook(checkpoint=None, problem=str(error))
    except DeltaError as error:
        return LogLook(checkpoint=None, problem=error.message)
    except FileNotFoundError:
        problem = "The checkpoint went away while it was looked at."
        return LogLook(checkpoint=None, problem=problem)
    return LogLook(checkpoint=found)


def _newest(store: LogStore, version: int) -> KnownCheckpoint | None:
    found = newest_checkpoint(load_listing(store, version), version)
    return None if found is None else _known(store, found)


def _known(store: LogStore, found: Checkpoint) -> KnownCheckpoint:
    sized = found.names[:MAX_SIZED_PARTS]
    statuses = [store.status(name) for name in sized]
    is_single = found.names == (checkpoint_name(found.version),)
    is_sized = len(sized) == len(found.names)
    return KnownCheckpoint(
        version=found.version,
        parts=None if is_single else len(found.names),
        size_bytes=sum(status.size for status in statuses) if is_sized else None,
        written_at=moment(statuses[0].modification_time),
    )
