"""A rehearsal: the clients that recipients use read all that one of them may read.

A token of the same recipient, which lives for minutes, has the very same grants; each
client runs in a process of its own, by the public address.
"""

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import datetime
from pathlib import Path
from typing import Annotated, Any, Final
from uuid import UUID

from django.conf import settings

from apps.pages.actions import Stamp
from apps.pages.page_json import As, OnPage, in_json
from apps.sharing.access import callers as access
from apps.sharing.access.directories import directory_of, with_folders
from apps.sharing.activity.refusals import kept_reason
from apps.sharing.answers import tables
from apps.sharing.errors import RehearsalPythonError
from apps.sharing.issuing.throw_away import throw_away
from apps.sharing.models import Recipient, SharedTable
from apps.sharing.recipients.rehearsals.client_program import CLIENTS, DIRECTORY
from apps.tables.storage.connections import options_for
from deltaweb.delta.errors import DeltaError
from deltaweb.delta.values.cell_text import plain_value
from deltaweb.sharing.known_errors import recognize
from deltaweb.storage import signing

LIMIT_S: Final = 180.0  # for one client and one table
# Folders are read on the stores that have no line here.
_UNTRIED: Final = {
    "abfss": "Azure's emulator cannot sign directories",
    "gs": "deltalake accepts no OAuth token of Google",
}
PROGRAM: Final = Path(__file__).with_name("client_program.py")

# Told before a client begins: its name, and how many have ended, of how many.
Report = Callable[[str, int, int], None]


@dataclass(frozen=True, slots=True, kw_only=True)
class Reading:
    """How one client read one table.

    Attributes:
        client: The name of the client; `client_version` is the version of its package.
        table: The name as `share.schema.table`.
        version: The newest version of the table when the rehearsal began; null if the
            table could not be opened.
        num_rows: The number of rows that the client read; null if it failed.
        size_bytes: The bytes of these rows in memory.
        is_equal: Whether it read the same number of rows as most clients.
        error: The error of the client, without secrets.
        remedy: What to do; null if unknown or not needed.
    """

    client: str
    client_version: str
    table: str
    shared_id: OnPage[UUID | None] = None
    version: int | None
    num_rows: int | None
    size_bytes: int | None
    duration_s: float
    is_equal: bool = True
    error: str | None = None
    remedy: str | None = None

    @property
    def has_passed(self) -> bool:
        """Whether it read the table, and the same rows as the others."""
        return self.error is None and self.is_equal


@dataclass(frozen=True, slots=True, kw_only=True)
class Untried:
    """A way to a table that is offered, and that no rehearsal goes.

    Attributes:
        table: The name as `share.schema.table`.
        way: The way to read it.
        reason: The reason why it was not tested.
    """

    table: str
    way: str
    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Rehearsal:
    """What all clients read of all that a recipient may read.

    Attributes:
        missing: Clients that are not installed here.
        untried: What is offered beside, and was not read by anybody.
    """

    recipient: str
    rehearsed_at: Annotated[datetime, As(plain_value)]
    readings: Sequence[Reading]
    missing: Sequence[str]
    untried: Sequence[Untried] = ()

    @in_json
    def passed(self) -> bool:
        """Whether every client read every table, and all of them the same rows."""
        return all(one.has_passed for one in self.readings)


@dataclass(frozen=True, slots=True)
class _Rehearsed:
    """A table that is read, and the version that clients find."""

    shared: SharedTable
    version: int | None

    @property
    def name(self) -> str:
        return f"{self.shared.share.name}.{self.shared.full_name}"


def rehearse(
    recipient: Recipient, *, stamp: Stamp, report: Report | None = None
) -> Rehearsal:
    """Let every client that is installed read every table of a recipient.

    Args:
        recipient: Who is stood in for.
        stamp: Who asks, and when; the throw-away token is recorded as theirs.
    """
    found = pythons()
    asked = list(_tables(recipient, now=stamp.at))
    readings: list[Reading] = []
    with (
        tempfile.TemporaryDirectory(prefix="deltaweb-rehearsal-") as folder,
        throw_away(recipient, stamp=stamp) as (_, made),
    ):
        profile = Path(folder, "rehearsal.share")
        profile.touch(mode=0o600)
        profile.write_text(made.to_json(), encoding="utf-8")
        for number, (client, python) in enumerate(found.items()):
            if report is not None:
                report(client, number, len(found))
            for environment, some in _environments(client, asked, recipient):
                run = _Run(client, python, environment)
                readings += _readings(run, profile, some)
    return Rehearsal(
        recipient=recipient.name,
        rehearsed_at=stamp.at,
        readings=sorted(_compared(readings), key=lambda one: one.table),
        missing=[name for name in CLIENTS if name not in found],
        untried=untried(recipient),
    )


def untried(recipient: Recipient) -> list[Untried]:
    """Return the folders that a recipient may read, and that no client here can."""
    found = []
    for share in access.granted_shares(recipient):
        tables_of_it = access.granted_tables(recipient, share.name)
        for shared in with_folders(tables_of_it):
            scheme = (directory_of(shared, recipient) or "").partition("://")[0]
            if reason := _UNTRIED.get(scheme):
                name = f"{share.name}.{shared.full_name}"
                found.append(Untried(table=name, way="folder", reason=reason))
    return found


def _tables(recipient: Recipient, *, now: datetime) -> Iterator[_Rehearsed]:
    for share in access.granted_shares(recipient):
        for shared in access.granted_tables(recipient, share.name):
            version = None
            with suppress(DeltaError):  # its clients say why
                version = tables.table_version(shared, recipient, now=now)
            yield _Rehearsed(shared, version)


def pythons() -> dict[str, str]:
    """Return the clients that are installed, each with the Python that it runs on."""
    here = {name: sys.executable for name, one in CLIENTS.items() if one.is_here}
    if not settings.REHEARSAL_PYTHON:
        return here
    command = (settings.REHEARSAL_PYTHON, "-P", str(PROGRAM))
    try:
        said = subprocess.run(  # noqa: S603 (our own program)
            command, capture_output=True, check=True, timeout=LIMIT_S
        )
        there = json.loads(said.stdout)
    except (OSError, ValueError, subprocess.SubprocessError) as error:
        raise RehearsalPythonError(reason=type(error).__name__) from error
    found = dict.fromkeys(there, settings.REHEARSAL_PYTHON) | here
    return {name: found[name] for name in CLIENTS if name in found}


def _environments(
    client: str, asked: Sequence[_Rehearsed], recipient: Recipient
) -> Iterator[tuple[dict[str, str], list[_Rehearsed]]]:
    """Yield the tables that a client can read, by what it is told of their store."""
    if client != DIRECTORY:
        yield {}, list(asked)
        return
    found: dict[tuple[str, str], list[_Rehearsed]] = {}
    for one in asked:
        location = directory_of(one.shared, recipient) or ""
        if location.startswith("s3://"):  # `untried` names the others
            options = options_for(location)
            bucket = location.split("/")[2]
            region = signing.s3_session.find_endpoint(location, bucket, options).region
            given = {**(options.get("client_kwargs") or {}), **options}
            place = (given.get("endpoint_url") or "", region)
            found.setdefault(place, []).append(one)
    for (endpoint, region), some in found.items():
        yield {"AWS_ENDPOINT_URL": endpoint, "AWS_REGION": region}, some


@dataclass(frozen=True, slots=True)
class _Run:
    """How a client is run: on which Python, with which variables beside."""

    client: str
    python: str
    environment: Mapping[str, str]


def _readings(
    run: _Run, profile: Path, asked: Sequence[_Rehearsed]
) -> Iterator[Reading]:
    """Let one client read; one that ends before its time goes on with the next."""
    left = list(asked)
    while left:
        lines, cause = _run(run, [f"{profile}#{one.name}" for one in left])
        for said in lines:
            yield _reading(run.client, left.pop(0), said)
        if cause and left:
            yield _reading(run.client, left.pop(0), {"error": cause})


def _run(run: _Run, urls: Sequence[str]) -> tuple[list[dict[str, Any]], str]:
    """Run a client; return what it said of the first tables, and why no more."""
    limit_s = LIMIT_S * len(urls)
    try:
        # Beside the program lie modules whose names others have too.
        done = subprocess.run(  # noqa: S603 (our own program)
            [run.python, "-P", str(PROGRAM), run.client, *urls],
            capture_output=True,
            text=True,
            check=False,
            timeout=limit_s,
            env={**os.environ, **run.environment},
        )
        text, cause = done.stdout, f"Its process ended with {done.returncode}."
    except subprocess.TimeoutExpired as ended:
        text = (ended.stdout or b"").decode(errors="replace")
        cause = f"It took longer than {limit_s:g} seconds."
    lines = []
    for line in text.splitlines():
        with suppress(ValueError):  # what a client prints beside
            if isinstance(said := json.loads(line), dict):
                lines.append(said)
    return lines[: len(urls)], cause


def _reading(client: str, asked: _Rehearsed, said: Mapping[str, Any]) -> Reading:
    error = said.get("error")
    known = recognize(str(error)) if error is not None else []
    return Reading(
        client=client,
        client_version=said.get("version", ""),
        table=asked.name,
        shared_id=asked.shared.id,
        version=asked.version,
        num_rows=said.get("num_rows"),
        size_bytes=said.get("size_bytes"),
        duration_s=said.get("duration_s", LIMIT_S),
        error=None if error is None else kept_reason(str(error)),
        remedy=f"{known[0].cause} {known[0].remedy}" if known else None,
    )


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
