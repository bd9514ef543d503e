"""Reminders for recipients: tokens that end soon, new schemas, limits.

A reminder of a schema change stands until the recipient has read that version of the
table, or a later one. That of a soft limit stands until its month is over. A change of
hidden columns only makes no reminder.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, Final
from uuid import UUID

from django.conf import settings
from django.db.models import F, Q
from django.utils.feedgenerator import Atom1Feed

from apps.news.mails import send_text
from apps.sharing.access.grants.rules import rule_for
from apps.sharing.activity.budgets import first_of_month, midnight
from apps.sharing.activity.usage import FIRST_FAILED_STATUS, calls, sum_of_sizes
from apps.sharing.models import Recipient, RecipientToken, SharedTable
from apps.tables.models import Commit, MetadataVersion
from deltaweb.delta.errors import DeltaError
from deltaweb.words import bytes_text

TOKENS_AHEAD: Final = timedelta(days=14)
SCHEMAS_BACK: Final = timedelta(days=30)
MAX_REMINDERS: Final = 200  # of each kind
_READ: Final = "table__shared_tables__reads"


@dataclass(frozen=True, slots=True, kw_only=True)
class Reminder:
    """Something that a recipient is to be told.

    Attributes:
        contact: The contact of the recipient; empty if there is none.
    """

    key: str
    since: datetime
    recipient: str
    contact: str
    text: str
    url: str

    @property
    def line(self) -> str:
        """Whom to tell what."""
        return f"{self.contact} {self.text}"


def reminders(now: datetime) -> list[Reminder]:
    """Return what is to be told at a moment, the newest first."""
    found = [*_ending_tokens(now), *_changed_schemas(now), *_reached_limits(now)]
    return sorted(found, key=lambda one: (one.since, one.key), reverse=True)


def reminders_feed(found: Sequence[Reminder], *, url: str) -> str:
    """Return reminders as an Atom feed."""
    feed = Atom1Feed(
        title="Reminders of deltaweb",
        link=settings.PUBLIC_URL,
        description="Expiring tokens, changed schemas and monthly limits",
        feed_url=url,
    )
    for one in found:
        feed.add_item(
            title=one.text,
            link=one.url,
            description=f"Contact: {one.contact or 'none'}",
            unique_id=f"urn:deltaweb:{one.key}",
            pubdate=one.since,
            updateddate=one.since,
            author_name=one.recipient,
        )
    return feed.writeString("utf-8")


def without_contact(found: Sequence[Reminder]) -> list[str]:
    """Return the recipient of each reminder that cannot be mailed."""
    return [one.recipient for one in found if not one.contact]


def mail_reminders(found: Sequence[Reminder]) -> Iterator[list[Reminder]]:
    """Mail reminders to the contacts of recipients; yield those of each mail, sent.

    Raises:
        MailRefusedError: If the mail relay does not take one; those before it are sent.
    """
    by_contact: dict[str, list[Reminder]] = {}
    for one in found:
        if one.contact:
            by_contact.setdefault(one.contact, []).append(one)
    for contact, of_contact in by_contact.items():
        subject = f"What is shared by {settings.PROVIDER_NAME}: reminders"
        text = "\n".join(one.text for one in of_contact)
        send_text(contact, subject, text)
        yield of_contact


def _ending_tokens(now: datetime) -> Iterator[Reminder]:
    """Yield the tokens that end soon, and have no successor yet."""
    end = now + TOKENS_AHEAD
    ends = Q(expires_at__lte=end) | Q(retires_at__lte=end)
    tokens = RecipientToken.objects.live(now).filter(ends, replaced_by=None)
    for token in tokens.select_related("recipient")[:MAX_REMINDERS]:
        recipient = token.recipient
        yield Reminder(
            key=f"token:{token.id}:{token.ends_at:%Y%m%d}",
            since=token.ends_at - TOKENS_AHEAD,
            recipient=recipient.name,
            contact=recipient.contact,
            text=(
                f"The token {token.prefix}\N{HORIZONTAL ELLIPSIS} of {recipient.name} "
                f"ends on {token.ends_at:%Y-%m-%d at %H:%M} UTC."
            ),
            url=f"{settings.PUBLIC_URL}{recipient.get_absolute_url()}",
        )


def _reached_limits(now: datetime) -> Iterator[Reminder]:
    """Yield the soft limits that were reached this month."""
    month = midnight(first_of_month(now))
    limited = Recipient.objects.filter(soft_limit_bytes__isnull=False)
    recipients = {one.id: one for one in limited}
    offered = (
        calls()
        .filter(
            recipient_id__in=recipients, at__gte=month, status__lt=FIRST_FAILED_STATUS
        )
        .order_by()
        .values_list("recipient_id")
        .annotate(size=sum_of_sizes())
    )
    for recipient_id, size in offered:
        recipient = recipients[recipient_id]
        limit = recipient.soft_limit_bytes
        if limit is not None and int(size or 0) >= limit:
            yield Reminder(
                key=f"limit:{recipient.id}:{month:%Y%m}:{limit}",
                since=month,
                recipient=recipient.name,
                contact=recipient.contact,
                text=(
                    f"{recipient.name} was offered {bytes_text(int(size))} in "
                    f"{month:%B %Y}: the soft limit is {bytes_text(limit)}."
                ),
                url=f"{settings.PUBLIC_URL}{recipient.get_absolute_url()}usage",
            )


def _changed_schemas(now: datetime) -> Iterator[Reminder]:
    """Yield the changes of schemas that have not reached a reader yet."""
    commits = Commit.objects.filter(
        **{
            f"{_READ}__version__lt": F("version"),
            f"{_READ}__token__revoked_at": None,
            f"{_READ}__token__expires_at__gt": now,
        },
        table__shared_tables__share__grants__recipient=F(f"{_READ}__token__recipient"),
        table__shared_tables__share__off_since=None,
        changes_schema=True,
        committed_at__gte=now - SCHEMAS_BACK,
    )
    names = {
        "share": "table__shared_tables__share__name",
        "schema": "table__shared_tables__schema",
        "shared_as": "table__shared_tables__name",
        "shared_id": "table__shared_tables__id",
        "recipient_id": f"{_READ}__token__recipient__id",
        "recipient": f"{_READ}__token__recipient__name",
        "contact": f"{_READ}__token__recipient__contact",
    }
    rows: Iterable[Mapping[str, Any]] = (
        commits.order_by("-committed_at", "-id")
        .values("version", "committed_at", **{key: F(of) for key, of in names.items()})
        .distinct()[:MAX_REMINDERS]
    )
    rows = list(rows)
    columns = _visible_columns(rows)
    for row in rows:
        shown = columns[row["shared_id"], row["recipient_id"]]
        if shown is not None and not _changes(row["shared_id"], row["version"], shown):
            continue
        table = f"{row['share']}.{row['schema']}.{row['shared_as']}"
        yield Reminder(
            key=f"schema:{row['recipient']}:{table}:{row['version']}",
            since=row["committed_at"],
            recipient=row["recipient"],
            contact=row["contact"],
            text=(
                f"The schema of {table} changes with version {row['version']}, which "
                f"{row['recipient']} has not read yet."
            ),
            url=f"{settings.PUBLIC_URL}/recipients/{row['recipient']}/",
        )


def _visible_columns(
    rows: Iterable[Mapping[str, Any]],
) -> dict[tuple[UUID, UUID], frozenset[str] | None]:
    """Return the columns that recipients see of tables; None for all of them."""
    asked = {(row["shared_id"], row["recipient_id"]) for row in rows}
    tables = SharedTable.objects.in_bulk({shared for shared, _ in asked})
    recipients = Recipient.objects.in_bulk({recipient for _, recipient in asked})
    return {
        (shared, recipient): rule_for(tables[shared], recipients[recipient]).columns
        for shared, recipient in asked
    }


def _changes(shared_id: UUID, version: int, columns: frozenset[str]) -> bool:
    """Tell whether a version changes some columns; no if the schemas are not known."""
    known = MetadataVersion.objects.filter(table__shared_tables=shared_id)
    fields = []
    for newest in (version - 1, version):
        found = known.filter(version__lte=newest).order_by("-version").first()
        if found is None:
            return False
        try:
            schema = found.schema()
        except DeltaError:
            return False
        fields.append([one for one in schema.fields if one.name in columns])
    return fields[0] != fields[1]
