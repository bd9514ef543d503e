"""Looking for new commits of received tables: a job aside for each provider.

A provider that does not answer takes the time of that job alone. It then rests, with
all its tables.
"""

from dataclasses import dataclass
from datetime import datetime
from typing import Final

from django.utils import timezone

from apps.jobs import kinds
from apps.jobs.kind import JobKind, to_json
from apps.jobs.running.tracking import TrackedJob
from apps.jobs.services import enqueue
from apps.tables.index.probing import due_of, probe_some
from apps.tables.models import Table
from apps.tables.storage.received import provider_of, rests_until
from deltaweb.storage.location import RECEIVED


@dataclass(frozen=True, slots=True)
class ReceivedCheck:
    """The prefix of a provider: `received://acme`."""

    provider: str


def request_received(*, now: datetime) -> int:
    """Queue a check of each provider that has a table which is due; return how many."""
    due = Table.objects.due_for_probe(now).filter(location__startswith=RECEIVED)
    providers = set(map(provider_of, due.values_list("location", flat=True)))
    asked = [one for one in sorted(providers) if not _put_off(one, now)]
    for provider in asked:
        enqueue(
            kind=CHECK_RECEIVED.name,
            title=f"Check {provider}"[:300],
            parameters=to_json(ReceivedCheck(provider)),
            key=f"received:{provider}"[:200],
            now=now,
        )
    return len(asked)


@dataclass(frozen=True, slots=True, kw_only=True)
class ReceivedChecked:
    """How many tables of a provider were looked at."""

    num_looked_at: int


def check_received(job: TrackedJob, asked: ReceivedCheck) -> ReceivedChecked:
    """Look at the tables of a provider that are due, until it does not answer."""
    num_looked_at = 0
    for table in due_of(f"{asked.provider}/", now=timezone.now()):
        job.progress(num_looked_at, unit="tables")
        if _put_off(asked.provider, timezone.now()):
            break
        probe_some([table], now=timezone.now())
        num_looked_at += 1
    return ReceivedChecked(num_looked_at=num_looked_at)


def _put_off(provider: str, now: datetime) -> bool:
    """Let the tables of a provider rest as long as it does; tell whether it rests."""
    until = rests_until(provider, now=now)
    if until is None:
        return False
    due = Table.objects.due_for_probe(now).filter(location__startswith=f"{provider}/")
    Table.objects.filter(id__in=due.values("id")).update(probe_due_at=until)
    return True


CHECK_RECEIVED: Final = kinds.register(
    JobKind(
        name="tables.check_received",
        words="Check received tables",
        parameters=ReceivedCheck,
        result=ReceivedChecked,
        run=check_received,
        is_reserved=True,
        is_aside=lambda _parameters: True,
    )
)
