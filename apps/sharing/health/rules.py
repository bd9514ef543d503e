"""Rules about shares, tokens and recipients. They read the database alone."""

import math
import shlex
import time
from collections.abc import Iterator, Mapping
from datetime import datetime, timedelta
from typing import Final
from uuid import UUID

from django.db.models import Count
from django.shortcuts import resolve_url

from apps.notices.events import EventSubject
from apps.notices.kinds.recipient_no_rows import RECIPIENT_NO_ROWS
from apps.notices.kinds.share_broken import SHARE_BROKEN
from apps.notices.kinds.token_expiring import TOKEN_EXPIRING
from apps.sharing.access.grants.rules import TableRule, rule_of
from apps.sharing.health.words import BROKEN_SHARE, NO_ROWS, TOKEN_EXPIRES
from apps.sharing.models import (
    Grant,
    PreparedVersion,
    Recipient,
    RecipientRule,
    Share,
    SharedTable,
)
from apps.sharing.recipients.token_states import with_tokens_state
from apps.tables.health.storing import FindingOfSharing
from apps.tables.models import Table
from deltaweb.delta.errors import PredicateError, SchemaError
from deltaweb.health.finding import Cost, Fact, Finding, HealthRemedy, Severity
from deltaweb.words import counted

URGENT: Final = timedelta(days=2)
"""Before its end, a token leaves too little time for a recipient to replace it."""
STILL_USED: Final = timedelta(days=30)
"""After its last request, a recipient whose tokens have ended is missed."""


def find_all(
    now: datetime, *, budget_s: float = math.inf
) -> tuple[list[FindingOfSharing], tuple[str, ...]]:
    """Return what all rules find.

    Args:
        budget_s: Seconds for the rules of recipients, which are many.

    Returns:
        The findings, and the rules that were not evaluated to the end.
    """
    found = [*broken_shares(), *ending_tokens(now)]
    ends = time.monotonic() + budget_s
    for one in recipients_without_rows():
        if one is not None:
            found.append(one)
        if time.monotonic() > ends:
            return found, (NO_ROWS,)
    return found, ()


# === Shares ===


def broken_shares() -> Iterator[FindingOfSharing]:
    """Find shared tables that recipients cannot read."""
    grants = Grant.objects.order_by().values_list("share").annotate(Count("id"))
    num_readers = dict(grants)
    offered = SharedTable.objects.filter(
        share__off_since=None, share__grants__isnull=False
    ).distinct()
    for shared in offered.select_related("share", "table").defer("table__summary"):
        problem, since = _problem(shared)
        if problem:
            yield _of_share(
                shared.share,
                Finding(
                    rule=BROKEN_SHARE,
                    subject=f"{shared.share.name}/{shared.full_name}",
                    severity=Severity.ACT_NOW,
                    sentence=f"Recipients cannot read {shared.full_name}: {problem}",
                    evidence=(
                        Fact("Share", shared.share.name),
                        Fact("Table", shared.table.full_name),
                    ),
                    cost=Cost(
                        num_readers.get(shared.share_id, 1),
                        "recipients",
                        "cannot read it",
                    ),
                    remedy=_see_share(shared.share),
                    since=since,
                ),
            )


def _problem(shared: SharedTable) -> tuple[str, datetime | None]:
    """Return why a shared table cannot be read, and since when; "" if it can."""
    table = shared.table
    if table.vanished_at is not None:
        return f"its lake no longer has {table.full_name}.", table.vanished_at
    if table.state == Table.State.FAILED or table.is_unreachable:
        return table.error or "it was never indexed.", table.error_since
    if table.state == Table.State.UNSUPPORTED:
        return "deltaweb does not read its newest version.", None
    if shared.preparation_problem:
        problem = f"its files cannot be prepared. {shared.preparation_problem}"
        return problem, shared.preparation_failed_at
    return "", None


# === Recipients ===


def recipients_without_rows() -> Iterator[FindingOfSharing | None]:
    """Find recipients whose rule shows no row of a table that they may read.

    A rule shows none if its condition cannot be true, for example without a property,
    or if the last preparation counted none although the table has rows. The clock
    prepares each new version under each rule, so its count is that of *What they see*.
    Anything else is unknown here.

    Yields:
        A finding, or None for a rule that shows rows, or of which that is unknown.
    """
    prepared = _prepared_rows()
    for shared, recipient, rule in _rules_with_conditions():
        reason = _why_no_rows(shared, rule, prepared)
        if not reason:
            yield None
        else:
            yield _of_recipient(recipient, _no_rows(shared, rule, reason, recipient))


def _rules_with_conditions() -> Iterator[tuple[SharedTable, Recipient, TableRule]]:
    own = {
        (rule.shared_table_id, rule.recipient_id): rule
        for rule in RecipientRule.objects.all()
    }
    shares = Share.objects.filter(off_since=None)
    for share in shares.prefetch_related("recipients", "shared_tables__table"):
        for shared in share.shared_tables.all():
            for recipient in share.recipients.all():
                narrower = own.get((shared.id, recipient.id))
                rule = rule_of(
                    [shared, narrower] if narrower else [shared],
                    recipient,
                    is_plain=shared.is_plain,
                )
                if rule.conditions:
                    yield shared, recipient, rule


def _prepared_rows() -> dict[tuple[UUID, str], tuple[int, int | None]]:
    """Return version and rows that were prepared last, by shared table and rule."""
    rows = PreparedVersion.objects.order_by("version").values_list(
        *("shared_table", "rule", "version", "num_rows")
    )
    return {(shared, rule): (version, count) for shared, rule, version, count in rows}


def _why_no_rows(
    shared: SharedTable,
    rule: TableRule,
    prepared: Mapping[tuple[UUID, str], tuple[int, int | None]],
) -> str:
    """Return why a rule shows no row, in words that follow a colon; "" if unknown."""
    metadata = shared.table.metadata_versions.first()
    if metadata is None:
        return ""
    try:
        if rule.shows_nothing(metadata.schema()):
            names = ", ".join(rule.missing)
            return (
                f"it has no property {names}."
                if names
                else "its condition is never true."
            )
        version, num_rows = prepared.get((shared.id, rule.digest), (0, None))
    except PredicateError as error:
        return f"its condition cannot be evaluated. {error.message}"
    except SchemaError:
        num_rows = None
    if num_rows != 0 or shared.table.num_files == 0:  # of an empty table, all see none
        return ""
    return f"no row of version {version} meets its condition."


def _no_rows(
    shared: SharedTable, rule: TableRule, reason: str, recipient: Recipient
) -> Finding:
    asked = [
        Fact(f"Property {name}", "not set" if value is None else str(value))
        for name, value in (rule.asked.items() if not rule.missing else ())
    ]
    return Finding(
        rule=NO_ROWS,
        subject=f"{recipient.name}/{shared.share.name}/{shared.full_name}",
        severity=Severity.ACT_NOW,
        sentence=f"{recipient.name} sees no row of {shared.full_name}: {reason}",
        evidence=(
            Fact("Share", shared.share.name),
            Fact("Condition", " AND ".join(rule.conditions)),
            *asked,
        ),
        cost=Cost(1, "recipients", "reads an empty table"),
        remedy=HealthRemedy(operation="recipient", label="See recipient"),
    )


def ending_tokens(now: datetime) -> Iterator[FindingOfSharing]:
    """Find recipients whose last token ends soon, or has ended while it was in use."""
    states = with_tokens_state(Recipient.objects.all(), now=now)
    for recipient in states.filter(
        state__in=("expiring", "expired"), num_shares__gt=0
    ).order_by("name_key"):
        used_at = recipient.last_used_at
        if recipient.state == "expiring":
            left = recipient.ends_at - now
            days = counted(max(left.days, 0), "day") if left.days else "less than a day"
            sentence = f"The last token of {recipient.name} expires in {days}."
            is_urgent = left <= URGENT
            end = Fact("Expires", f"{recipient.ends_at:%Y-%m-%d %H:%M} UTC")
        elif used_at is not None and now - used_at <= STILL_USED:
            sentence = f"All tokens of {recipient.name} have expired: it is refused."
            is_urgent, end = True, Fact("Expired", "all of them")
        else:
            continue
        used = f"{used_at:%Y-%m-%d %H:%M} UTC" if used_at else "never"
        yield _of_recipient(
            recipient,
            Finding(
                rule=TOKEN_EXPIRES,
                subject=recipient.name,
                severity=Severity.ACT_NOW if is_urgent else Severity.TO_KNOW,
                sentence=sentence,
                evidence=(
                    end,
                    Fact("Shares", recipient.num_shares, "shares"),
                    Fact("Used last", used),
                ),
                cost=Cost(recipient.num_shares, "shares", "lost without a token"),
                remedy=HealthRemedy(
                    operation="recipient",
                    label="Rotate",
                    command=shlex.join(
                        ["deltaweb", "recipient", "rotate", recipient.name]
                    ),
                ),
            ),
        )


def _of_share(share: Share, finding: Finding) -> FindingOfSharing:
    return FindingOfSharing(
        finding=finding,
        subject=share.name,
        subject_url=share.get_absolute_url(),
        kind=SHARE_BROKEN,
        event_subject=EventSubject("share", str(share.id), share.name),
    )


def _see_share(share: Share) -> HealthRemedy:
    command = shlex.join(["deltaweb", "share", "show", share.name])
    return HealthRemedy(operation="share", label="See share", command=command)


def _of_recipient(recipient: Recipient, finding: Finding) -> FindingOfSharing:
    return FindingOfSharing(
        finding=finding,
        subject=recipient.name,
        subject_url=resolve_url(recipient),
        kind=TOKEN_EXPIRING if finding.rule == TOKEN_EXPIRES else RECIPIENT_NO_ROWS,
        event_subject=EventSubject("recipient", str(recipient.id), recipient.name),
    )
