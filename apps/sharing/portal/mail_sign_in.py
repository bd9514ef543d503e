"""Signing in to the page of a recipient by e-mail: one address, one link, one session.

The answer to an address is the same for every address, because a job looks it up. The
mail goes to the stored contact, never to the text that was typed.
"""

import time
from dataclasses import dataclass
from datetime import datetime
from http import HTTPStatus
from typing import Final

from django.conf import settings
from django.core.exceptions import ValidationError
from django.core.validators import validate_email
from django.http import Http404, HttpRequest, HttpResponseBase, HttpResponseRedirect
from django.urls import reverse
from django.utils import timezone

from apps.audit.models import AuditEvent
from apps.audit.services import record as write_record
from apps.jobs import kinds
from apps.jobs.kind import JobKind, to_json
from apps.jobs.running.tracking import TrackedJob
from apps.jobs.services import enqueue
from apps.news.mails import mail_is_set_up, send_text
from apps.pages.request.addresses import network_of
from apps.pages.request.rate_limits import RateLimit
from apps.sharing.access.browser_requests import check_origin
from apps.sharing.access.mail_links import (
    LIFETIME,
    address_digest,
    check_link,
    link_of,
    link_secret,
    open_by_mail,
    recipients_at,
    token_for_mail,
)
from apps.sharing.errors import AccessError, BrowserReadingError
from apps.sharing.models import RecipientToken
from apps.sharing.portal.middleware import PREFIX
from apps.sharing.portal.sign_in import begin, check_attempts, form
from apps.sharing.portal.visit import (
    PortalRecord,
    portal_view,
    record_of,
    refused,
    shown,
)
from deltaweb.sharing.errors import SharingError, TooManyRequestsError

SEND_LINKS: Final = "sharing.send_links"
MAX_LINKS: Final = 10  # of one request, where recipients share a contact
OF_ADDRESS: Final = RateLimit(file="rates-mails", rate_per_s=1 / 1200, burst=3)
OF_NETWORK: Final = RateLimit(file="rates-mail-forms", rate_per_s=1 / 60, burst=10)
OF_SERVER: Final = RateLimit(file="rates-mails-all", rate_per_s=2, burst=200)
WRONG: Final = "This is not an e-mail address."


# === Asking for a link ===


@portal_view
def ask(request: HttpRequest) -> HttpResponseBase:
    """Request a mail to an address; the answer is the same if none is sent."""
    if not mail_is_set_up():
        raise Http404
    if request.method != "POST":
        return HttpResponseRedirect(reverse("portal:sign-in"))
    record = record_of(request, "portal.send_link", {})
    record.is_recorded = False  # anybody could fill the record; the job writes it
    text = request.POST.get("address", "").strip()
    try:
        check_origin(request)
        _check_network(record.address)
        validate_email(text)
    except ValidationError:
        wrong: dict[str, object] = {"wrong_address": WRONG}
        return form(request, wrong, status=HTTPStatus.BAD_REQUEST)
    except (AccessError, SharingError) as error:
        return refused(request, record, error)
    _request_mail(address_digest(text), record)
    return HttpResponseRedirect(f"{reverse('portal:sign-in')}?ended=mail-sent")


def _check_network(address: str) -> None:
    key = network_of(address).encode()
    wait_s = OF_NETWORK.take(key, now_s=time.monotonic())
    if wait_s > 0:
        raise TooManyRequestsError(wait_s=wait_s)


def _request_mail(digest: str, record: PortalRecord) -> None:
    """Queue the job of an address, unless it has had its mails."""
    now_s = time.monotonic()
    if OF_ADDRESS.take(digest.encode(), now_s=now_s) > 0:
        return
    if OF_SERVER.take(b"", now_s=now_s) > 0:
        return
    asked = LinksAsked(address=digest, asked_from=record.address)
    enqueue(
        kind=SEND_LINKS,
        title="Send links that sign in to the page of a recipient",
        parameters=to_json(asked),
        now=record.at,
    )


# === Sending it ===


@dataclass(frozen=True, slots=True, kw_only=True)
class LinksAsked:
    """A request for links.

    Attributes:
        address: `address_digest` of what was typed.
        asked_from: The network address of the request.
    """

    address: str
    asked_from: str


@dataclass(frozen=True, slots=True, kw_only=True)
class LinksSent:
    """The number of links that were sent."""

    links: int


def send_links(job: TrackedJob, asked: LinksAsked) -> LinksSent:
    """Send a link for each recipient that can sign in by an address."""
    job.step("Sending mail")
    sent = 0
    for recipient in recipients_at(asked.address)[:MAX_LINKS]:
        now = timezone.now()
        token = token_for_mail(recipient, now=now)
        if token is not None:
            _send_link(token, asked_from=asked.asked_from, now=now)
            sent += 1
    return LinksSent(links=sent)


def _send_link(token: RecipientToken, *, asked_from: str, now: datetime) -> None:
    recipient = token.recipient
    # `reverse` knows the prefix of the public URL in requests, not in workers.
    link = f"{settings.PUBLIC_URL}{PREFIX}sign-in/{link_secret(token, now=now)}"
    minutes = int(LIFETIME.total_seconds()) // 60
    text = (
        f"Someone asked to sign in as {recipient.name}, to read what "
        f"{settings.PROVIDER_NAME} shares.\n\n"
        f"Open this link within {minutes} minutes, and press Sign in:\n\n"
        f"{link}\n\n"
        "It works once. If it was not you, ignore this mail.\n"
    )
    subject = f"Sign in to what {settings.PROVIDER_NAME} shares with {recipient.name}"
    send_text(recipient.mail_address, subject, text)
    write_record(
        AuditEvent(
            at=now,
            kind=AuditEvent.Kind.ACTIVATION,
            action="portal.send_link",
            address=asked_from,
            recipient=recipient.name,
            recipient_id=recipient.id,
            token_id=token.id,
            token_prefix=token.prefix,
            status=HTTPStatus.OK,
        )
    )


kinds.register(
    JobKind(
        name=SEND_LINKS,
        words="Send links that sign in",
        parameters=LinksAsked,
        result=LinksSent,
        run=send_links,
        is_for_admins=True,
    )
)


# === Opening it ===


@portal_view
def follow(request: HttpRequest, secret: str) -> HttpResponseBase:
    """Show whom a link signs in; sign in by POST, once."""
    record = record_of(request, "portal.sign_in", {})
    record.detail["by"] = "e-mail"
    record.is_recorded = False  # a look at the link, or one that is not ours
    try:
        if request.method == "POST":
            check_origin(request)
            check_attempts(record.address)
        link = link_of(secret)
        record.token = link.token
        if request.method != "POST":
            check_link(link, address=record.address, now=record.at)
            response = shown(request, "mail_link.html", {"token": link.token})
            # Its address has the secret. With `no-referrer` a browser would send the
            # form with `Origin: null`, which is refused where the address is no HTTPS.
            response["Referrer-Policy"] = "strict-origin"
            return response
        record.is_recorded = True
        opened = open_by_mail(link, address=record.address, now=record.at)
    except (AccessError, BrowserReadingError, SharingError) as error:
        return refused(request, record, error)
    return begin(request, record, opened)
