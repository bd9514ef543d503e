"""How the `share` and `recipient` commands answer: JSON documents and lines."""

from collections.abc import Iterator, Sequence
from datetime import datetime
from typing import Final, TypeAlias

from django.db.models import QuerySet

from apps.sharing.access.grants.preparing import PreparedTable
from apps.sharing.activity.heavy_queries import HeavyQuery
from apps.sharing.activity.ledger import Ledger, LedgerEntry
from apps.sharing.activity.use_resource import UseResource
from apps.sharing.issuing.token_rows import TokenResource, token_rows
from apps.sharing.models import Recipient, RecipientToken
from apps.sharing.recipients.doctor.doctor import Diagnosis
from apps.sharing.recipients.doctor.findings import Finding
from apps.sharing.recipients.listing import recipient_rows
from apps.sharing.recipients.rehearsals.rehearsal import Reading
from apps.sharing.recipients.resource import RecipientResource, setting_texts
from apps.sharing.recipients.seen import SeenAnswer, SeenByRecipient, some_of
from apps.sharing.shares.resources import (
    SharedTableResource,
    ShareResource,
)
from apps.sharing.shares.schemas import SharedSchemaResource
from apps.tables.management.text_output import Columns, facts, listed, time_text
from deltaweb.words import bytes_text

Listed: TypeAlias = tuple[RecipientResource, list[TokenResource]]

# === Shares ===

SHARE_COLUMNS: Final[Columns[ShareResource]] = {
    "NAME": "name",
    "TABLES": "num_tables",
    "RECIPIENTS": "recipients",
    "COMMENT": "comment",
}


def share_text(share: ShareResource, use: UseResource) -> str:
    """Return what a share is, for people."""
    return facts(
        [
            ("name", share.name),
            ("comment", share.comment or "none"),
            ("created", time_text(share.created_at)),
            ("recipients", ", ".join(share.recipients) or "none"),
            _use_text(use),
        ]
    )


def shared_table_lines(tables: Sequence[SharedTableResource]) -> Iterator[str]:
    """Yield a line a table of a share."""
    if not tables:
        yield "No tables yet: share add-table SHARE SCHEMA.TABLE --table NAME"
        return
    yield ""
    yield from listed(
        tables,
        {
            "TABLE": "name",
            "REGISTERED AS": "table",
            "HISTORY": "versions",
            "ONLY ROWS WHERE": lambda table: table.part.condition,
            "ONLY COLUMNS": lambda table: ", ".join(table.part.columns or ()),
            "STATE": lambda table: "" if table.state == "active" else table.state,
        },
    )
    for table in tables:
        if table.preparation_problem:
            yield f"The newest version of {table.preparation_problem}"


PREPARED_COLUMNS: Final[Columns[PreparedTable]] = {
    "TABLE": "table",
    "FOR": lambda table: some_of(table.recipients),
    "VERSION": "version",
    "UNTOUCHED": "signed",
    "REWRITTEN": "rewritten",
    "LEFT OUT": "absent",
    "BYTES": "size_bytes",
    "ROWS OUTSIDE": lambda table: (
        "" if table.rows_outside is None else f"{table.rows_outside:,}"
    ),
}


def schema_lines(schemas: Sequence[SharedSchemaResource]) -> Iterator[str]:
    """Yield a line a schema that a share has whole; nothing where it has none."""
    if not schemas:
        return
    yield ""
    yield from listed(
        schemas,
        {"WHOLE SCHEMA": "schema", "NAMESPACE": "namespace", "TABLES": "num_tables"},
    )


def _use_text(use: UseResource) -> tuple[str, str]:
    """Return a name and what it says of how much was read, for people."""
    refused = f", {use.num_refused:,} refused" if use.num_refused else ""
    text = f"{use.num_requests:,}{refused}; {use.size_bytes:,} bytes offered"
    return f"requests in {use.num_days} days", text


# === Recipients ===


def with_tokens(recipients: QuerySet[Recipient], *, now: datetime) -> Iterator[Listed]:
    """Yield recipients by name, each with its tokens."""
    found = recipients.prefetch_related("tokens")
    for row in recipient_rows(found, now=now):
        tokens = token_rows(list(row.recipient.tokens.all()), now=now)
        yield row.resource, [token.describe() for token in tokens]


RECIPIENT_COLUMNS: Final[Columns[Listed]] = {
    "NAME": lambda found: found[0].name,
    "SHARES": lambda found: found[0].shares,
    "TOKENS": lambda found: _states(found[1]),
    "LAST USED": lambda found: time_text(found[0].last_used_at),
}


USAGE_COLUMNS: Final[Columns[LedgerEntry]] = {
    "MONTH": lambda entry: f"{entry.month:%Y-%m}",
    "TABLE": lambda entry: f"{entry.share}.{entry.table}",
    "READS": "num_requests",
    "ROWS": lambda entry: "" if entry.num_rows is None else f"{entry.num_rows:,}",
    "FILES": "num_files",
    "OFFERED": lambda entry: bytes_text(entry.size_bytes, digits=3),
    "PRICE": lambda entry: "" if entry.price is None else f"{entry.price:,.2f}",
}
QUERY_COLUMNS: Final[Columns[HeavyQuery]] = {
    "QUERY": lambda one: f"{one.share}.{one.table} {one.condition}".rstrip(),
    "READS": "num_requests",
    "OFFERED": lambda one: bytes_text(one.size_bytes, digits=3),
    "ADVICE": "advice",
}


def usage_lines(ledger: Ledger) -> Iterator[str]:
    """Yield what a recipient was offered by month, and the month's heaviest queries."""
    yield from listed(ledger.entries, USAGE_COLUMNS)
    if ledger.queries:
        yield ""
        yield from listed(ledger.queries, QUERY_COLUMNS)


REHEARSAL_COLUMNS: Final[Columns[Reading]] = {
    "TABLE": "table",
    "VERSION": "version",
    "CLIENT": lambda one: f"{one.client} {one.client_version}",
    "ROWS": lambda one: "" if one.num_rows is None else f"{one.num_rows:,}",
    "SECONDS": lambda one: f"{one.duration_s:.1f}",
    "VERDICT": lambda one: one.error or ("" if one.is_equal else "different rows"),
    "REMEDY": "remedy",
}


def finding_lines(findings: Sequence[Finding]) -> Iterator[str]:
    """Yield what the steps of an examination found, and what to do."""
    for one in findings:
        yield f"{one.verdict:<12}{one.step:<9}{one.subject}: {one.fact}"
        if one.advice:
            yield f"{'':<21}{one.advice}"


def diagnosis_lines(found: Diagnosis) -> Iterator[str]:
    """Yield what an error of a client may mean, and what of its names was found."""
    for one in found.causes:
        yield f"{one.step:<9}{one.cause} ({one.clients})"
        yield f"{'':<9}{one.remedy}"
    yield from finding_lines(found.findings)


SEEN_COLUMNS: Final[Columns[SeenAnswer]] = {
    "REQUEST": "request",
    "FORMAT": "asked_format",
    "STATUS": "status",
    "ANSWER": "summary",
}


def seen_warnings(seen: SeenByRecipient) -> Iterator[str]:
    """Yield what a recipient does not see, and where the rest is."""
    if not seen.tokens.is_good:
        yield (
            f"{seen.recipient} has no valid token now: each request is refused with "
            "401."
        )
    for one in seen.withheld:
        yield f"{one.name} is not visible: {one.reason}."
    if seen.next_page_token is not None:
        yield f"More tables: --share {seen.share} --page-token {seen.next_page_token}"


def recipient_text(recipient: RecipientResource, use: UseResource) -> str:
    """Return what a recipient is, for people."""
    return facts(
        [
            ("name", recipient.name),
            ("created", time_text(recipient.created_at)),
            ("shares", ", ".join(recipient.shares) or "none"),
            *setting_texts(recipient),
            _use_text(use),
        ]
    )


def token_lines(tokens: Sequence[TokenResource]) -> Iterator[str]:
    """Yield a line a token."""
    if not tokens:
        return
    yield ""
    yield from listed(
        tokens,
        {
            "TOKEN": lambda token: f"{token.prefix}...",
            "STATE": _state,
            "ENDS": lambda token: token.revoked_at or token.ends_at,
            "LAST USED": lambda token: time_text(token.last_used_at),
            "FROM": "last_used_from",
            "KIND": lambda token: token.kind.replace("_", " "),
        },
    )


def _state(token: TokenResource) -> str:
    return RecipientToken.State(token.state.upper()).label


def _states(tokens: Sequence[TokenResource]) -> str:
    """Count the tokens that have not ended by their states."""
    live = [_state(one) for one in tokens if one.state not in {"expired", "revoked"}]
    counts = [f"{live.count(word)} {word}" for word in dict.fromkeys(live)]
    return ", ".join(counts) or "none"
