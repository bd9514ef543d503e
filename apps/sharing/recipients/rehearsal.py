"""A rehearsal: the clients that recipients use read all that one of them may read.

A token of the same recipient, which lives for minutes and is revoked at the end, has
the very same grants; each client runs in a process of its own, by the public address.
"""

import json
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from functools import partial
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Final
from uuid import UUID

from django.utils import timezone

from deltaweb.web.accounts.models import User
from deltaweb.web.jobs import kinds
from deltaweb.web.jobs.kind import JobKind, hashed_key, to_json
from deltaweb.web.jobs.models import Job
from deltaweb.web.jobs.running.tracking import TrackedJob
from deltaweb.web.jobs.services import enqueue
from deltaweb.web.pages.actions import COMMAND_LINE, Actor
from deltaweb.web.pages.page_json import in_json
from deltaweb.web.pages.responses import to_json as to_text
from deltaweb.web.sharing.issuing import credentials, tokens
from deltaweb.web.sharing.issuing.profile import Profile
from deltaweb.web.sharing.models import Recipient, SharedTable
from deltaweb.web.sharing.recipients.rehearsed_client import CLIENTS

LIFETIME: Final = timedelta(minutes=30)
LIMIT_S: Final = 180.0  # for one client and one table
MAX_ERROR_LENGTH: Final = 500
PROGRAM: Final = Path(__file__).with_name("rehearsed_client.py")
_REMEDIES: Final = {
    "403": "The recipient's allow list does not have this server's address.",
    "401": "The token was not accepted: check the clock, and DELTAWEB_PUBLIC_URL.",
    "404": "The table is no longer shared, or DELTAWEB_PUBLIC_URL leads elsewhere.",
    "Connection": "Nothing answers at DELTAWEB_PUBLIC_URL: is the server running?",
    "parse datatype": "This client needs the delta format for this table.",
    "responseformat": "This client needs the delta format for this table.",
}
"""What to do, by a word of what a client says."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Reading:
    """How one client read one table.

    Attributes:
        client: Its name; `version` is that of its package.
        table: `share.schema.table`.
        num_rows: Rows that it got; None where it failed.
        size_bytes: Of these rows in its memory.
        is_equal: Whether it got as many rows as most clients did.
        error: What it says, in its own words.
        remedy: What to do; None where nothing is known, or needed.
    """

    client: str
    version: str
    table: str
    num_rows: int | None
    size_bytes: int | None
    duration_s: float
    is_equal: bool = True
    error: str | None = None
    remedy: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Rehearsal:
    """What all clients read of all that a recipient may read.

    Attributes:
        missing: Clients that are not installed here.
    """

    recipient: str
    rehearsed_at: datetime
    readings: Sequence[Reading]
    missing: Sequence[str]

    @in_json
    def passed(self) -> bool:
        """Whether every client read every table, and all of them the same rows."""
        return all(one.error is None and one.is_equal for one in self.readings)


def rehearse(recipient: Recipient, *, actor: Actor, now: datetime) -> Rehearsal:
    """Let every client that is installed read every table of a recipient.

    Args:
        recipient: Who is stood in for.
        actor: Who asks; the throw-away token is recorded as theirs.
        now: The current time.
    """
    with tempfile.TemporaryDirectory(prefix="deltaweb-rehearsal-") as folder:
        path = Path(folder, "rehearsal.share")
        made = credentials.issue(
            recipient,
            lifetime=LIFETIME,
            deliver=partial(_write, path),
            actor=actor,
            now=now,
        )
        try:
            readings = list(_readings(recipient, path))
        finally:
            tokens.revoke(made.token, actor=actor, now=timezone.now())
    return Rehearsal(
        recipient=recipient.name,
        rehearsed_at=now,
        readings=_compared(readings),
        missing=[name for name in CLIENTS if not _is_here(name)],
    )


def _readings(recipient: Recipient, profile: Path) -> Iterator[Reading]:
    granted = SharedTable.objects.filter(share__grants__recipient=recipient)
    tables = granted.select_related("share").order_by("share", "schema_key", "name_key")
    for table in tables:
        name = f"{table.share.name}.{table.full_name}"
        for client in CLIENTS:
            if _is_here(client):
                yield _read(client, name, f"{profile}#{name}")


def _is_here(client: str) -> bool:
    packages, _ = CLIENTS[client]
    return all(find_spec(one.replace("-", "_")) is not None for one in packages)


def _read(client: str, table: str, url: str) -> Reading:
    said: dict[str, Any] = {}
    try:
        done = subprocess.run(  # noqa: S603 (our own program)
            [sys.executable, str(PROGRAM), client, url],
            capture_output=True,
            text=True,
            check=False,
            timeout=LIMIT_S,
        )
        said = json.loads(done.stdout)
    except subprocess.TimeoutExpired:
        said = {"error": f"It took longer than {LIMIT_S:g} seconds."}
    except ValueError:
        said = {"error": f"Its process ended with {done.returncode}."}
    error = said.get("error")
    return Reading(
        client=client,
        version=said.get("version", ""),
        table=table,
        num_rows=said.get("num_rows"),
        size_bytes=said.get("size_bytes"),
        duration_s=said.get("duration_s", LIMIT_S),
        error=None if error is None else str(error)[:MAX_ERROR_LENGTH],
        remedy=None if error is None else _remedy(str(error)),
    )


def _remedy(error: str) -> str | None:
    return next((said for word, said in _REMEDIES.items() if word in error), None)


def _compared(readings: Sequence[Reading]) -> list[Reading]:
    """Mark the readings that have another count of rows than most of their table."""
    counts: dict[str, list[int]] = {}
    for one in readings:
        if one.num_rows is not None:
            counts.setdefault(one.table, []).append(one.num_rows)
    usual = {table: max(some, key=some.count) for table, some in counts.items()}
    return [
        replace(one, is_equal=one.num_rows in {None, usual.get(one.table)})
        for one in readings
    ]


def _write(path: Path, profile: Profile) -> None:
    path.touch(mode=0o600)
    path.write_text(profile.to_json())


# === As a job ===


@dataclass(frozen=True, slots=True)
class RehearseRecipient:
    """Whose tables are read."""

    recipient: str


def request_rehearsal(
    recipient: Recipient, *, requested_by: User, now: datetime
) -> Job:
    """Queue a rehearsal; one that waits already is returned."""
    return enqueue(
        kind=REHEARSE.name,
        title=f"Rehearse what {recipient.name} reads",
        parameters=to_json(RehearseRecipient(str(recipient.id))),
        key=hashed_key("rehearse", str(recipient.id)),
        requested_by=requested_by,
        now=now,
    )


def _run(job: TrackedJob, asked: RehearseRecipient) -> object:
    recipient = Recipient.objects.get(id=UUID(asked.recipient))
    user = Job.objects.get(id=job.id).requested_by
    actor = Actor(name=user.username, user_id=user.pk) if user else COMMAND_LINE
    job.step("Reading by the clients that are installed")
    held = rehearse(recipient, actor=actor, now=timezone.now())
    return json.loads(to_text(held))  # with its times as text


REHEARSE: Final = kinds.register(
    JobKind(
        name="sharing.rehearse",
        words="Read as a recipient does",
        parameters=RehearseRecipient,
        run=_run,
        is_reserved=True,
    )
)
