"""What administrators request for recipients: reminders, and rehearsals of reading."""

from dataclasses import dataclass
from functools import partial
from typing import Final

from django.shortcuts import resolve_url
from django.utils import timezone

from apps.accounts.selectors import user_of
from apps.jobs.listing.resource import Started
from apps.jobs.waiting import address_of, started
from apps.pages.actions import Action, Stamp, report
from apps.pages.changes.change import ADMIN, Call, Change, Nothing, Page, Subject
from apps.pages.changes.read import Read, reads
from apps.sharing.activity.actions import action_on
from apps.sharing.models import Recipient
from apps.sharing.names import find_recipient
from apps.sharing.recipients.doctor.views import ConnectionPage
from apps.sharing.recipients.rehearsals.nightly import request_rehearsal
from apps.sharing.recipients.rehearsals.views import RehearsalsPage
from apps.sharing.recipients.reminders import Reminder, reminders
from apps.sharing.recipients.telling import request_reminders

RECIPIENT: Final = "recipients/<str:name>"


@dataclass(frozen=True, slots=True, kw_only=True)
class Reminders:
    """The reminders of all recipients, the newest first."""

    reminders: list[Reminder]


def _send(_: None, __: Nothing, stamp: Stamp) -> Started:
    asked = request_reminders(now=stamp.at, requested_by=user_of(stamp))
    report(Action(name="reminders.send", stamp=stamp))
    return started(asked)


def _rehearse(recipient: Recipient, _: Nothing, stamp: Stamp) -> Started:
    asked = request_rehearsal(recipient, requested_by=user_of(stamp), now=stamp.at)
    report(action_on("recipient.rehearse", stamp, recipient))
    return started(asked)


requested: Final = partial(Call, "POST", status=202, location=address_of)
OF_ALL: Final = Subject(noun="recipient", role=ADMIN, scope="share", find=lambda: None)
ONE: Final = Subject(noun="recipient", role=ADMIN, scope="share", find=find_recipient)
SEND: Final = Change(
    of=OF_ALL,
    name="send-reminders",
    help="Send the reminders that were not sent yet, by mail and to the webhook.",
    parameters=Nothing,
    do=_send,
    is_atomic=False,
    result=Started,
    says=lambda _: "The reminders are being sent.",
    record=("reminders.send",),
    call=requested("reminders", "ReminderList"),
)
REHEARSE: Final = Change(
    of=ONE,
    name="rehearse",
    help="Read every table of a recipient with each client installed on the server.",
    more="The result of the job lists each client and table.",
    parameters=Nothing,
    do=_rehearse,
    is_atomic=False,
    result=Started,
    says=lambda _: "Requested. The result will be on this page.",
    record=("recipient.rehearse",),
    call=requested(f"{RECIPIENT}/rehearse", "Rehearsal"),
    page=Page(
        f"{RECIPIENT}/rehearsals",
        back=lambda one: resolve_url("sharing:recipient-rehearsals", one.name),
        name="recipient-rehearsals",
    ),
)
reads.register(
    Read(
        route="reminders",
        view="ReminderList",
        finds=lambda: Reminders(reminders=reminders(timezone.now())),
        shows=Reminders,
        help="List reminders: expiring tokens, changed schemas and reached limits.",
        role=ADMIN,
    ),
    Read(
        route=f"{RECIPIENT}/doctor",
        view="Connection",
        page="sharing:recipient-doctor",
        shows=ConnectionPage,
        help="Get the last examination of a recipient's connection.",
        role=ADMIN,
    ),
    Read(
        route=f"{RECIPIENT}/rehearse",
        view="Rehearsal",
        page="sharing:recipient-rehearsals",
        shows=RehearsalsPage,
        help="Get the last rehearsal: the result of each client for each table.",
        role=ADMIN,
    ),
)
