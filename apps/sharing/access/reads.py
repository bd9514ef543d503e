"""How far a token has read a shared table, noted as its last use is."""

from datetime import datetime
from typing import Final
from uuid import UUID

from deltaweb.web.pages.request.lock_waits import write_note
from deltaweb.web.sharing.access.callers import USE_INTERVAL
from deltaweb.web.sharing.models import LastRead, RecipientToken, SharedTable

_MAX_NOTED: Final = 10_000  # pairs of tokens and tables that this process remembers
_noted: dict[tuple[UUID, UUID], tuple[int, datetime]] = {}


def note_read(
    token: RecipientToken, shared: SharedTable, *, version: int, now: datetime
) -> None:
    """Remember which version of a table a token has read.

    The same version is written at most every `USE_INTERVAL`, and a database that is
    busy costs the note alone.
    """
    key = (token.id, shared.id)
    known = _noted.get(key)
    if known is not None and known[0] == version and now < known[1] + USE_INTERVAL:
        return
    if len(_noted) >= _MAX_NOTED:
        forget_reads()
    _noted[key] = (version, now)
    read = LastRead(token=token, shared_table=shared, version=version, read_at=now)
    write_note(
        lambda: LastRead.objects.bulk_create(
            [read],
            update_conflicts=True,
            unique_fields=["token", "shared_table"],
            update_fields=["version", "read_at"],
        ),
        of=f"What {token.prefix} has read",
    )


def forget_reads() -> None:
    """Forget what this process has noted."""
    _noted.clear()
