"""What this server has for a recipient: tokens, grants, formats, and its first files.

The code that answers recipients is asked, as `seen` asks it; a file is fetched by the
very address that a recipient gets.
"""

import json
from collections.abc import Iterator
from datetime import datetime, timedelta
from functools import partial
from http import HTTPStatus
from typing import Any, Final

from apps.audit.models import AuditEvent
from apps.sharing.access import callers as access
from apps.sharing.access.networks import has_allow_list, is_allowed
from apps.sharing.answers import tables
from apps.sharing.answers.signed_lines import SigningPlan
from apps.sharing.models import Recipient
from apps.sharing.recipients.doctor.address import (
    TIMEOUT_S,
    Clock,
    clock_finding,
)
from apps.sharing.recipients.doctor.findings import Finding, Verdict
from apps.sharing.recipients.seen import (
    BY_DELTA,
    IN_PARQUET,
    SeenByRecipient,
    SeenTable,
    see_as,
    some_of,
    stand_in,
)
from deltaweb.delta.errors import DeltaError
from deltaweb.sharing.client_errors import Step
from deltaweb.sharing.table_query import TableQuery
from deltaweb.sharing.wire import delta, parquet
from deltaweb.storage.received.patience import HTTPRequest
from deltaweb.storage.received.transport import Transport, host_of

MAX_SHARES: Final = 10
MAX_TABLES: Final = 20
REFUSALS_OF: Final = timedelta(days=7)
MAX_FETCHED: Final = 1 << 16
FILE_MARK: Final = b"PAR1"  # the first four bytes of a Parquet file
_STATES: Final = {
    "active": (Verdict.OK, "A token is valid until {end}.", ""),
    "expiring": (
        Verdict.WARNING,
        "The last valid token ends at {end}.",
        "Rotate it, and send the new profile before then.",
    ),
    "waiting": (
        Verdict.FAILED,
        "Its token was never activated: the profile was not downloaded.",
        "Send the activation link again, or make a new one.",
    ),
    "expired": (Verdict.FAILED, "Its tokens have expired.", "Issue a new token."),
    "revoked": (Verdict.FAILED, "Its tokens were revoked.", "Issue a new token."),
    "none": (Verdict.FAILED, "It has no token.", "Issue a token."),
}


def look(recipient: Recipient, *, now: datetime) -> Iterator[SeenByRecipient]:
    """Yield what a recipient sees of each of its shares, the first tables of each."""
    first = see_as(stand_in(recipient, now=now))
    yield first
    for share in first.shares[1:MAX_SHARES]:
        yield see_as(stand_in(recipient, now=now), share=share)


# === Tokens ===


def token_findings(
    recipient: Recipient, seen: SeenByRecipient, *, now: datetime
) -> Iterator[Finding]:
    """Yield whether a token works, and whom the allow list has turned away."""
    verdict, fact, advice = _STATES[seen.tokens.key]
    end = seen.tokens.ends_at
    yield Finding(
        step=Step.TOKEN,
        verdict=verdict,
        subject=recipient.name,
        fact=fact.format(end=f"{end:%Y-%m-%d %H:%M} UTC" if end else ""),
        advice=advice,
    )
    if not has_allow_list(recipient):
        return
    refused = (
        AuditEvent.objects.filter(
            recipient_id=recipient.id,
            kind=AuditEvent.Kind.CALL,
            status=HTTPStatus.FORBIDDEN,
            at__gte=now - REFUSALS_OF,
        )
        .order_by()
        .values_list("address", flat=True)
        .distinct()
    )
    away = sorted(one for one in refused if not is_allowed(recipient, one))
    listed = partial(
        Finding, step=Step.TOKEN, subject=f"allow list of {recipient.name}"
    )
    if away:
        yield listed(
            verdict=Verdict.WARNING,
            fact=(
                f"In {REFUSALS_OF.days} days, other addresses were refused: "
                f"{some_of(away)}."
            ),
            advice="Add those that belong to the recipient.",
        )
    else:
        yield listed(
            verdict=Verdict.OK,
            fact=f"No address was refused in {REFUSALS_OF.days} days.",
        )


# === Grants and formats ===


def grant_findings(
    recipient: Recipient, seen: list[SeenByRecipient]
) -> Iterator[Finding]:
    """Yield what is granted, and what of it is not seen all the same."""
    found = partial(Finding, step=Step.GRANT)
    if not seen[0].shares:
        yield found(
            verdict=Verdict.FAILED,
            subject=recipient.name,
            fact="It can read no share.",
            advice="Grant it a share, or turn on a share that it has.",
        )
    for one in seen:
        if one.share is None:
            continue
        count = len(one.tables)
        more = "the first " if one.next_page_token else ""
        noun = "table" if count == 1 else "tables"
        yield found(
            verdict=Verdict.OK if count else Verdict.WARNING,
            subject=one.share,
            fact=f"It lists {more}{count} {noun}." if count else "It lists no table.",
            advice="" if count else "Add a table to the share.",
        )
    withheld = {each.name: each.reason for one in seen for each in one.withheld}
    for name, reason in withheld.items():
        yield found(
            verdict=Verdict.WARNING,
            subject=name,
            fact=f"Granted but not visible: {reason}.",
            advice="See the page of the share.",
        )


def format_finding(table: SeenTable) -> Finding:
    """Return in which formats a recipient gets a table."""
    found = partial(Finding, step=Step.FORMAT, subject=table.name)
    if {parquet.NAME, delta.NAME} <= set(table.formats):
        return found(verdict=Verdict.OK, fact="Every client can read it.")
    refusals = [one.message or "" for one in table.answers if one.is_refused]
    reason = refusals[0] if refusals else ""
    if table.formats:
        return found(
            verdict=Verdict.WARNING,
            fact=f"Only in the {table.formats[0]} format. {reason}",
            advice="Use clients that accept it: delta-sharing 1.1 or newer, "
            'delta-sharing-spark 3.1 or newer with responseFormat "delta".',
        )
    return found(
        verdict=Verdict.FAILED,
        fact=f"It cannot be read. {reason}",
        advice="The page of the table shows its error.",
    )


# === Files ===


def storage_findings(
    seen: SeenTable, signing: SigningPlan, *, clock: Clock
) -> Iterator[Finding]:
    """Yield whether the first file of a table can be fetched, and the store's clock."""
    found = partial(Finding, step=Step.STORAGE, subject=seen.name)
    try:
        url = _first_url(seen, signing)
    except DeltaError as error:
        yield found(verdict=Verdict.FAILED, fact=error.message, advice=error.hint)
        return
    if url is None:
        yield found(verdict=Verdict.NOT_CHECKED, fact="It has no file to fetch.")
        return
    host = host_of(url)
    transport = Transport(
        allowed_hosts=[host], timeout_s=TIMEOUT_S, deadline_s=2 * TIMEOUT_S
    )
    before = clock()
    try:
        headers = {"Range": f"bytes=0-{len(FILE_MARK) - 1}"}
        answer = transport.ask(HTTPRequest("GET", url, headers, max_bytes=MAX_FETCHED))
    except DeltaError as error:
        yield found(
            verdict=Verdict.FAILED,
            fact=f"A file cannot be fetched from {host}: {error.message}",
            advice="Clients fetch files from this host directly, so let them reach it.",
        )
        return
    yield _fetched(found, answer.status, answer.body, signing.token.recipient, host)
    clocked = clock_finding(answer.headers, between=(before, clock()), of=host)
    if clocked.verdict not in {Verdict.OK, Verdict.NOT_CHECKED}:
        yield clocked


def _fetched(
    found: partial[Finding], status: int, body: bytes, recipient: Recipient, host: str
) -> Finding:
    if status == HTTPStatus.FORBIDDEN and has_allow_list(recipient):
        return found(
            verdict=Verdict.NOT_CHECKED,
            fact="Not tested: the allowed networks do not include this server.",
        )
    if status not in {HTTPStatus.OK, HTTPStatus.PARTIAL_CONTENT}:
        return found(
            verdict=Verdict.FAILED,
            fact=f"{host} refuses the URL of a file with {status}.",
            advice="Check the permissions of the storage connection, and its clock.",
        )
    if not body.startswith(FILE_MARK):
        return found(
            verdict=Verdict.FAILED,
            fact=f"The answer of {host} is not a Parquet file.",
            advice="Check whether a proxy replaces the file.",
        )
    if status == HTTPStatus.OK:
        return found(
            verdict=Verdict.WARNING,
            fact=f"{host} serves whole files only, not parts of them.",
            advice=(
                "Let the proxy pass on the header Range: Spark reads parts of files."
            ),
        )
    return found(verdict=Verdict.OK, fact=f"A file was fetched from {host}.")


def _first_url(seen: SeenTable, signing: SigningPlan) -> str | None:
    """Return the address of the first file that a recipient gets of a table."""
    share, schema, name = seen.name.rsplit(".", 2)
    shared = access.granted_table(signing.token.recipient, share, schema, name)
    is_plain = parquet.NAME in seen.formats
    answer = tables.table_files(
        shared,
        TableQuery(),
        capabilities=IN_PARQUET if is_plain else BY_DELTA,
        signing=signing,
    )
    for chunk in answer.lines:
        for line in chunk.splitlines():
            said: dict[str, Any] = json.loads(line)
            if "file" in said:
                file = said["file"]
                action = file.get("deltaSingleAction", {}).get("add", {})
                return str(file.get("url") or action["path"])
    return None
