"""What recipients do with a table, for the rules of health: filters and clients."""

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import replace
from datetime import datetime, timedelta
from typing import Final

from django.db.models.fields.json import KeyTextTransform

from apps.audit.models import AuditEvent
from apps.sharing.activity.heavy_queries import CONDITION, FILES
from apps.sharing.models import RecipientRule, SharedTable
from apps.sharing.recipients.rehearsals.certificates import (
    CertificateResource,
    broken_in,
)
from apps.tables.models import Table
from deltaweb.conditions.named import named_columns
from deltaweb.conditions.recipients import RECIPIENT
from deltaweb.delta.features.known.described import NAMES
from deltaweb.health.facts import HealthFacts, StoppedReader, UsedColumn
from deltaweb.words import counted

LOOKS_BACK: Final = timedelta(days=30)
MAX_CONDITIONS: Final = 1_000  # of the queries of a table


def with_use(facts: HealthFacts, table: Table, now: datetime) -> HealthFacts:
    """Return facts with the columns that recipients filter by, and stopped clients."""
    shared = SharedTable.objects.filter(table=table)
    ids = list(shared.values_list("id", flat=True))
    if not ids:
        return facts
    return replace(
        facts,
        used_columns=(*facts.used_columns, *_used_columns(table, now)),
        stopped_readers=(*facts.stopped_readers, *_stopped(broken_in(ids).values())),
    )


# === Columns ===


def _used_columns(table: Table, now: datetime) -> Iterable[UsedColumn]:
    """Yield the columns in rules of rows, and in conditions of the last 30 days."""
    in_rules = _by_column(_rules(table))
    in_queries = _by_column(_queries(table, now))
    for name in sorted({*in_rules, *in_queries}):
        told = []
        if rules := in_rules.get(name):
            told.append(counted(len(rules), "row rule"))
        if recipients := in_queries.get(name):
            told.append(counted(len(recipients), "recipient"))
        num_users = len(in_rules.get(name, ())) + len(in_queries.get(name, ()))
        verb = "filters" if num_users == 1 else "filter"
        yield UsedColumn(name, f"{' and '.join(told)} {verb} by it")


def _rules(table: Table) -> Iterable[tuple[str, str]]:
    """Yield each condition of the table in shares, after who has it."""
    shared = SharedTable.objects.filter(table=table).exclude(condition="")
    own = RecipientRule.objects.filter(shared_table__table=table).exclude(condition="")
    for id_, condition in shared.values_list("id", "condition"):
        yield f"shared {id_}", condition
    for pk, condition in own.values_list("id", "condition"):
        yield f"rule {pk}", condition


def _queries(table: Table, now: datetime) -> Iterable[tuple[str, str]]:
    """Yield each condition that recipients asked for, after who did."""
    events = AuditEvent.objects.filter(
        table_id=table.id,
        at__gte=now - LOOKS_BACK,
        action=FILES,
        detail__has_key=CONDITION,
    ).exclude(recipient="")
    asked = events.order_by().annotate(asked=KeyTextTransform(CONDITION, "detail"))
    found = asked.values_list("recipient", "asked").distinct()[:MAX_CONDITIONS]
    yield from ((recipient, condition) for recipient, condition in found if condition)


def _by_column(conditions: Iterable[tuple[str, str]]) -> dict[str, set[str]]:
    """Return who names each column."""
    found = defaultdict(set)
    for who, condition in conditions:
        for path in named_columns(condition):
            if path[0] != RECIPIENT:
                found[".".join(path)].add(who)
    return found


# === Clients ===


def _stopped(
    certificates: Iterable[Iterable[CertificateResource]],
) -> Iterable[StoppedReader]:
    """Yield each client that read the table, and that a commit stopped."""
    by_client = defaultdict(list)
    for broken in certificates:
        for one in broken:
            by_client[one.client].append(one)
    for client, broken in sorted(by_client.items()):
        first = broken[0]
        error = first.error or ""
        yield StoppedReader(
            client=f"{client} {first.client_version}".strip(),
            version=min(one.broken_since or 0 for one in broken),
            feature=next((name for name in NAMES if name in error), ""),
            error=error,
            recipients=tuple(sorted({one.recipient for one in broken})),
        )
