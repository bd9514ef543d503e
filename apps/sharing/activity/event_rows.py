"""One event of the record, as lists and JSON forms show it."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.utils.text import Truncator

from apps.audit.models import AuditEvent
from apps.pages.page_json import shaped
from apps.sharing.activity.action_words import action_words
from apps.sharing.activity.refusals import REASON, reason_of
from apps.sharing.activity.usage import FIRST_FAILED_STATUS

MAX_VALUE = 40  # characters of a field's value in a row
# What a change of something else than shares names in its detail.
_SUBJECTS = ("user", "name", "label")


@dataclass(frozen=True, slots=True, kw_only=True)
class EventResource:
    """One event of the record as every machine form names it.

    Attributes:
        kind: The kind of event, a value of `AuditEvent.Kind`.
        words: The action in words.
        actor: The user who made the change, or who started the rehearsal.
        recipient: The recipient that sent the request, or as which a rehearsal read.
        token: The prefix of the recipient's token.
        schema, table: The names of the table in the share.
        status: The HTTP status.
        reason: The reason why the request was refused or failed.
        num_files: The number of files whose URLs were issued, of `total_files` of the
            version.
    """

    id: int
    at: datetime
    kind: str
    action: str
    words: str
    actor: str | None
    recipient: str | None
    token: str | None
    address: str | None
    user_agent: str | None
    share: str | None
    schema: str | None
    table: str | None
    version: int | None
    status: int
    error_code: str | None
    reason: str | None
    duration_ms: float | None
    num_files: int | None
    total_files: int | None
    size_bytes: int | None
    request_id: str | None
    detail: Any


@dataclass(frozen=True, slots=True, kw_only=True)
class EventRow:
    """One event as a list shows it.

    Attributes:
        what: The table, share or recipient that it was done to.
        facts: What came of it: version, files, bytes.
        old, new: A field's value before and after, in short; both "" where none
            changed.
        failed: Whether it was refused or failed.
        reason: Why; "" if it was not.
        details: Labels and texts of the fold-out.
    """

    event: AuditEvent
    who: str
    words: str
    what: str
    facts: str
    old: str
    new: str
    failed: bool
    reason: str
    details: list[tuple[str, str]]

    def describe(self) -> EventResource:
        """Return the event as machine forms name it."""
        return event_resource(self.event)


def event_row(event: AuditEvent) -> EventRow:
    """Return an event as a list shows it."""
    words = action_words(event.action)
    table = ".".join(part for part in (event.schema, event.table) if part)
    old, new = _change(event)
    return EventRow(
        event=event,
        who=_who(event),
        words=words,
        what=_what(event, table),
        facts=_facts(event),
        old=old,
        new=new,
        failed=event.status >= FIRST_FAILED_STATUS,
        reason=reason_of(event),
        details=_details(event),
    )


def is_rehearsal(event: AuditEvent) -> bool:
    """Tell whether a user made a call in the place of a recipient.

    Earlier releases recorded such a call like others, without the id of the recipient.
    """
    is_nameless = event.recipient_id is None and event.recipient != ""
    return event.kind == AuditEvent.Kind.REHEARSAL or (
        event.kind == AuditEvent.Kind.CALL and is_nameless
    )


def _who(event: AuditEvent) -> str:
    if is_rehearsal(event):
        if not event.actor:
            return f"rehearsal as {event.recipient}"
        return f"{event.actor}, rehearsing as {event.recipient}"
    return event.actor or event.recipient or event.token_prefix or "unknown"


def event_resource(event: AuditEvent) -> EventResource:
    """Return an event as machine forms name it."""
    return shaped(
        EventResource,
        event,
        words=action_words(event.action),
        token=event.token_prefix or None,
        reason=reason_of(event) or None,
    )


def _what(event: AuditEvent, table: str) -> str:
    if table:
        return f"{table} of {event.share}" if event.share else table
    if is_rehearsal(event):
        return event.share
    if event.share and event.actor and event.recipient:
        return f"{event.share} for {event.recipient}"
    if event.share:
        return event.share
    if event.recipient:
        return event.recipient if event.actor else ""
    detail = event.detail if isinstance(event.detail, dict) else {}
    named = (detail.get(name) for name in _SUBJECTS)
    return next((text for text in named if isinstance(text, str)), "")


def _facts(event: AuditEvent) -> str:
    parts = []
    if event.version is not None:
        parts.append(f"v{event.version}")
    if event.num_files is not None:
        of = f" of {event.total_files:,}" if event.total_files is not None else ""
        parts.append(f"{event.num_files:,}{of} files")
    return ", ".join(parts)


def _change(event: AuditEvent) -> tuple[str, str]:
    """Return the value of a changed field before and after; the fold-out has all."""
    detail = event.detail if isinstance(event.detail, dict) else {}
    if not {"old", "new"} <= detail.keys():
        return "", ""
    old, new = (_plain(detail[name]) or "nothing" for name in ("old", "new"))
    return Truncator(old).chars(MAX_VALUE), Truncator(new).chars(MAX_VALUE)


def _details(event: AuditEvent) -> list[tuple[str, str]]:
    """Return what the fold-out says beside what the row shows."""
    pairs = [
        ("Action", event.action),
        ("Token", f"{event.token_prefix}…" if event.token_prefix else ""),
        ("Address", event.address),
        ("Agent", event.user_agent),
        ("Answer", f"{event.status} {event.error_code}".strip()),
        ("Reason", reason_of(event)),
        (
            "Duration",
            "" if event.duration_ms is None else f"{event.duration_ms:,.1f} ms",
        ),
        ("Pruning", _pruning(event)),
        ("Request", event.request_id),
    ]
    detail = event.detail if isinstance(event.detail, dict) else {}
    others = (pair for pair in detail.items() if pair[0] != REASON)
    pairs += [(_label(name), _plain(value)) for name, value in others]
    return [(label, text) for label, text in pairs if text]


def _pruning(event: AuditEvent) -> str:
    if event.num_files is None or not event.total_files:
        return ""
    skipped = event.total_files - event.num_files
    if not skipped:
        return f"all {event.total_files:,} files offered"
    return f"{event.num_files:,} of {event.total_files:,} files offered"


def _label(name: object) -> str:
    words = str(name).replace("_", " ")
    return (
        f"Number of {words.removeprefix('num ')}"
        if words.startswith("num ")
        else words.capitalize()
    )


def _plain(value: object) -> str:
    """Render a value of `detail`: lists by commas, nested values by name."""
    if value is None or value == "":
        return ""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, Mapping):
        if value.keys() == {"text", "reason"}:  # something left out, and why
            return f"{value['text']}: {value['reason']}"
        parts = [
            f"{_label(k).lower()}: {_plain(v) or 'none'}" for k, v in value.items()
        ]
        return "; ".join(parts)
    if isinstance(value, list | tuple):
        between = "\n" if any(isinstance(item, Mapping) for item in value) else ", "
        return between.join(_plain(item) or "none" for item in value)
    return str(value)
