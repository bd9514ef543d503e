"""The record of a call: what is known of it while it is answered, then one row.

A row is written before an answer ends, so a client with the answer finds the row. If
the database is busy, the row goes to the log, and the answer is sent all the same.
"""

import json
import logging
from dataclasses import dataclass, field
from datetime import datetime
from time import perf_counter
from typing import Any, Final
from uuid import UUID

from django.db import DatabaseError

from apps.audit import services
from apps.audit.models import AuditEvent
from apps.operate.metrics.counters import count_call
from apps.pages.request.lock_waits import (
    REQUEST_WAIT_MS,
    short_transaction,
    write_note,
)
from apps.sharing.access.callers import USE_INTERVAL
from apps.sharing.activity.budgets import note_offered
from apps.sharing.activity.notices import report_first_read
from apps.sharing.activity.usage import FIRST_FAILED_STATUS, READ_ACTIONS
from apps.sharing.answers.row_count import RowCount
from apps.sharing.models import LastRead, RecipientToken, SharedTable
from deltaweb.sharing.parameters import MAX_LONG

logger = logging.getLogger(__name__)

MAX_NAME: Final = 255
MAX_AGENT: Final = 300
ENDED: Final = "ended"  # in the detail: how an answer ended that is not whole


@dataclass(slots=True)
class CallRecord:
    """What is known of a call; fields are set while it is answered.

    Attributes:
        action: The name that a filter finds it by.
        request_id: The id that its answer and the server's log share.
        names: The names of its path, as they came: share, schema, table.
        last_version: The last version that was read, where that is another one.
        total_files: How many there were before pruning.
        detail: Plain values of further interest.
        is_recorded: Whether a row is to be written at all.
    """

    action: str
    at: datetime
    request_id: str = ""
    address: str = ""
    user_agent: str = ""
    names: dict[str, str] = field(default_factory=dict)
    token: RecipientToken | None = None
    shared_table: SharedTable | None = None
    version: int | None = None
    last_version: int | None = None
    num_files: int | None = None
    total_files: int | None = None
    size_bytes: int | None = None
    rows: RowCount | None = None
    detail: dict[str, Any] = field(default_factory=dict)
    is_recorded: bool = True
    started_s: float = field(default_factory=perf_counter)

    def save(self, *, status: int, error_code: str = "") -> None:
        """Write the row; a second time does nothing."""
        if not self.is_recorded:
            return
        self.is_recorded = False
        count_call(self.action, status=status, size_bytes=self.size_bytes)
        event = self._event(status, error_code)
        self._note(event)
        try:
            with short_transaction(REQUEST_WAIT_MS):
                services.record(event)
        except DatabaseError as error:
            logger.error(  # noqa: TRY400 (the cause is in the line; a trace helps nobody)
                "A call was not recorded (%s): %s", error, _line(event)
            )

    def _note(self, event: AuditEvent) -> None:
        """Note what was offered, and which version was read to its end."""
        token, recipient_id = self.token, event.recipient_id
        if token is None or recipient_id is None:  # or somebody in its place
            return
        if event.status >= FIRST_FAILED_STATUS:
            return
        if event.size_bytes:
            note_offered(recipient_id, event.size_bytes)
        version = self.last_version if self.last_version is not None else self.version
        is_whole = not event.error_code and ENDED not in self.detail
        if version is None or self.shared_table is None:
            return
        if is_whole and self.action in READ_ACTIONS:
            note_read(token, self.shared_table, version=version, now=self.at)

    def _event(self, status: int, error_code: str) -> AuditEvent:
        table = self.shared_table
        names = {kind: clean(name, MAX_NAME) for kind, name in self.names.items()}
        if table is not None:
            names = {
                "share": table.share.name,
                "schema": table.schema,
                "table": table.name,
            }
        return AuditEvent(
            at=self.at,
            action=self.action,
            request_id=self.request_id,
            address=self.address,
            user_agent=clean(self.user_agent, MAX_AGENT),
            **names,
            **self._caller(),
            table_id=table.table_id if table is not None else None,
            version=self.version,
            num_files=self.num_files,
            total_files=self.total_files,
            # A log may claim sizes that no column holds together.
            size_bytes=self.size_bytes and min(self.size_bytes, MAX_LONG),
            num_rows=None if self.rows is None else self.rows.total,
            detail=self.detail,
            status=status,
            error_code=error_code,
            duration_ms=round((perf_counter() - self.started_s) * 1000, 3),
        )

    def _caller(self) -> dict[str, Any]:
        token = self.token
        if token is None:
            return {"kind": AuditEvent.Kind.CALL}
        known = {
            "recipient": token.recipient.name,
            "token_id": token.id,
            "token_prefix": token.prefix,
        }
        if token.is_throw_away:  # use is counted by the kind, and by the id
            return known | {
                "kind": AuditEvent.Kind.REHEARSAL,
                "actor": token.created_by_name,
                "actor_id": token.created_by_id,
            }
        return known | {
            "kind": AuditEvent.Kind.CALL,
            "recipient_id": token.recipient_id,
        }


def clean(text: str, length: int) -> str:
    """Return text as a database holds it: no NUL, no half of a character."""
    plain = text[:length].encode("utf-8", "replace").decode()
    return plain.replace("\0", "\N{REPLACEMENT CHARACTER}")


def _line(event: AuditEvent) -> str:
    values = {
        field.name: value
        for field in AuditEvent._meta.concrete_fields  # noqa: SLF001 (Django's own name for it)
        if (value := getattr(event, field.name)) not in (None, "", {})
    }
    return json.dumps(values, default=str)


# === How far a token has read a shared table, noted as its last use is ===


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
        _noted.clear()
    _noted[key] = (version, now)
    read = LastRead(token=token, shared_table=shared, version=version, read_at=now)

    def write() -> None:
        if known is None:
            report_first_read(read)
        LastRead.objects.bulk_create(
            [read],
            update_conflicts=True,
            unique_fields=["token", "shared_table"],
            update_fields=["version", "read_at"],
        )

    write_note(write, of=f"What {token.prefix} has read")
