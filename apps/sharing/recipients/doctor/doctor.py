"""An examination of one recipient's way to its rows, and the reading of its error.

The steps run where this server runs, against its own public address. What a recipient
pastes is matched in the request that brings it: neither it nor a token in it is kept,
recorded or shown.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from itertools import chain
from typing import Final
from urllib.parse import urlsplit
from uuid import UUID

from django.conf import settings
from django.utils import timezone

from apps.accounts.models import User
from apps.jobs import kinds
from apps.jobs.kind import JobKind, hashed_key, to_json
from apps.jobs.models import Job
from apps.jobs.running.tracking import TrackedJob
from apps.jobs.services import enqueue
from apps.pages.actions import Actor, Stamp
from apps.pages.page_json import in_json, shaped
from apps.sharing.access import callers as access
from apps.sharing.activity.refusals import kept_reason
from apps.sharing.api.keys import signing_plan
from apps.sharing.errors import AccessError
from apps.sharing.issuing.throw_away import OneRecipient, throw_away
from apps.sharing.issuing.tokens import MARK
from apps.sharing.models import Recipient
from apps.sharing.recipients.doctor.address import (
    Clock,
    PublicAddress,
    address_findings,
)
from apps.sharing.recipients.doctor.findings import Finding, Verdict
from apps.sharing.recipients.doctor.offer import (
    MAX_TABLES,
    format_finding,
    grant_findings,
    look,
    storage_findings,
    token_findings,
)
from deltaweb.sharing.client_errors import Step, mentioned
from deltaweb.sharing.known_errors import recognize

DOCTOR: Final = Actor(name="connection doctor")
_PREFIX: Final = re.compile(rf"\b{MARK}[0-9a-f]{{8}}")


@dataclass(frozen=True, slots=True, kw_only=True)
class Examination:
    """What the steps between a recipient and its rows found.

    Attributes:
        recipient: The name of the recipient.
        examined_at: The time when the examination began.
        findings: The results, in the order of the steps.
    """

    recipient: str
    examined_at: datetime
    findings: Sequence[Finding]

    @in_json
    def passed(self) -> bool:
        """Whether nothing failed."""
        return all(one.verdict != Verdict.FAILED for one in self.findings)


@dataclass(frozen=True, slots=True, kw_only=True)
class LikelyCause:
    """What an error may mean; see `KnownError`."""

    key: str
    step: Step
    clients: str
    cause: str
    remedy: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Diagnosis:
    """What an error that a client wrote is known as; nothing of its text.

    Attributes:
        causes: Possible causes, the most likely first.
        findings: Facts about the tokens, tables and hosts in the error.
    """

    causes: Sequence[LikelyCause]
    findings: Sequence[Finding]


def examine(
    recipient: Recipient,
    *,
    actor: Actor = DOCTOR,
    clock: Clock = timezone.now,
) -> Examination:
    """Go through all steps between a recipient and its rows.

    Args:
        recipient: Who is stood in for.
        actor: Who asks; a token of minutes is recorded as theirs.
    """
    now = clock()
    address = PublicAddress(url=settings.PUBLIC_URL, clock=clock)
    found = chain(
        address_findings(address), _offered(recipient, actor=actor, clock=clock)
    )
    return Examination(recipient=recipient.name, examined_at=now, findings=list(found))


def _offered(recipient: Recipient, *, actor: Actor, clock: Clock) -> Iterator[Finding]:
    now = clock()
    seen = list(look(recipient, now=now))
    yield from token_findings(recipient, seen[0], now=now)
    yield from grant_findings(recipient, seen)
    tables = [table for one in seen for table in one.tables][:MAX_TABLES]
    yield from map(format_finding, tables)
    readable = [table for table in tables if table.formats]
    if not readable:
        return
    with throw_away(recipient, stamp=Stamp(actor, now)) as (token, _):
        signing = signing_plan(token, now=now)
        for table in readable:
            yield from storage_findings(table, signing, clock=clock)


# === What a client wrote ===


def diagnose(recipient: Recipient, text: str, *, now: datetime) -> Diagnosis:
    """Return what an error of a recipient's client is known as."""
    causes = [shaped(LikelyCause, one) for one in recognize(text)]
    return Diagnosis(causes=causes, findings=list(_named(recipient, text, now=now)))


def _named(recipient: Recipient, text: str, *, now: datetime) -> Iterator[Finding]:
    tables, hosts = mentioned(text)
    for prefix in dict.fromkeys(_PREFIX.findall(text)[:10]):
        yield _token(recipient, prefix, now=now)
    ours = urlsplit(settings.PUBLIC_URL).netloc.lower()
    for host in hosts:
        if host != ours:
            yield Finding(
                step=Step.HTTP,
                verdict=Verdict.WARNING,
                subject=kept_reason(host),
                fact=f"The client uses another address than {ours}.",
                advice="Compare the endpoint of its profile with DELTAWEB_PUBLIC_URL.",
            )
    for path in tables:
        yield _table(recipient, path)


def _token(recipient: Recipient, prefix: str, *, now: datetime) -> Finding:
    token = recipient.tokens.filter(prefix=prefix).first()
    if token is None:
        verdict, fact = Verdict.FAILED, f"{recipient.name} has no such token."
    else:
        state = token.state(now)
        verdict = Verdict.OK if state in token.LIVE else Verdict.FAILED
        fact = f"The token is {state.label}."
    return Finding(
        step=Step.TOKEN,
        verdict=verdict,
        subject=f"{prefix}…",
        fact=fact,
        advice="Send a new profile." if verdict == Verdict.FAILED else "",
    )


def _table(recipient: Recipient, path: tuple[str, str, str]) -> Finding:
    name = kept_reason(".".join(path))
    try:
        access.granted_table(recipient, *path)
    except AccessError:
        return Finding(
            step=Step.GRANT,
            verdict=Verdict.FAILED,
            subject=name,
            fact=f"{recipient.name} cannot read this table.",
            advice="Grant a share that has the table, or correct its name.",
        )
    return Finding(
        step=Step.GRANT, verdict=Verdict.OK, subject=name, fact="The table is granted."
    )


# === As a job ===


def examination_key(recipient: Recipient) -> str:
    """Return by what the jobs that examine a recipient are known."""
    return hashed_key("examine", str(recipient.id))


def request_examination(
    recipient: Recipient, *, requested_by: User | None = None, now: datetime
) -> Job:
    """Queue an examination; one that waits already is returned."""
    return enqueue(
        kind=EXAMINE_RECIPIENT.name,
        title=f"Examine the connection of {recipient.name}",
        parameters=to_json(OneRecipient(str(recipient.id))),
        key=examination_key(recipient),
        requested_by=requested_by,
        now=now,
    )


def last_examination(recipient: Recipient) -> tuple[Job | None, Examination | None]:
    """Return the newest examination that was requested, and the newest that ended."""
    jobs = Job.objects.filter(key=examination_key(recipient)).order_by("-created_at")
    done = jobs.filter(state=Job.State.DONE).first()
    examination = None
    if done is not None and done.started_at is not None:
        examination = Examination(
            recipient=recipient.name,
            examined_at=done.started_at,
            findings=EXAMINE_RECIPIENT.found(done) or (),
        )
    return jobs.first(), examination


def _run(job: TrackedJob, asked: OneRecipient) -> list[Finding]:
    recipient = Recipient.objects.filter(id=UUID(asked.recipient)).first()
    if recipient is None:
        return []
    user = Job.objects.get(id=job.id).requested_by
    actor = Actor(name=user.username, user_id=user.pk) if user else DOCTOR
    job.step("Examining the connection")
    return [*examine(recipient, actor=actor).findings]


EXAMINE_RECIPIENT: Final = kinds.register(
    JobKind(
        name="sharing.examine_recipient",
        words="Examine the connection of a recipient",
        parameters=OneRecipient,
        result=list[Finding],
        run=_run,
        is_for_admins=True,
        is_look=True,
    )
)
