"""The page of the webhooks of a person, with their delivery logs."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from django import forms
from django.conf import settings
from django.http import HttpRequest, HttpResponseBase
from django.utils import timezone

from apps.accounts.models import User
from apps.accounts.permissions import signed_in
from apps.notices.changes.webhooks import (
    WebhookResource,
    Webhooks,
    WebhookWithSecret,
    webhook_resource,
    webhooks_of,
)
from apps.notices.events.kind import event_kinds
from apps.notices.events.visibility import visible_events
from apps.notices.following.counting import BreakingShare, breaking_share
from apps.notices.models import Attempt, Delivery, Webhook
from apps.notices.sending.signing import secret_of
from apps.notices.sending.webhooks import MAX_ATTEMPTS
from apps.pages.changes.forms import sentences_of
from apps.pages.request.changes import ChangeForm
from apps.pages.request.parameters import cleaned
from apps.pages.responses import respond

SHOWN = 30  # attempts of a log
SHOWS = {"": "all events", "failures": "failures only", "waiting": "waiting"}


class WebhooksForm(forms.Form):
    """The parameters of the page."""

    new = forms.BooleanField(required=False)
    change = forms.UUIDField(required=False)
    show = forms.ChoiceField(choices=list(SHOWS.items()), required=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class LogLine:
    """A line of a delivery log: one request, or an event that waits for its first.

    Attributes:
        status: None if there was no answer.
        answer: The beginning of the answer, for administrators; "" for others.
    """

    at: datetime
    words: str
    about: str
    status: int | None
    reason: str
    answer: str
    number: int
    took_s: float | None
    delivery_id: int
    is_waiting: bool

    @property
    def is_success(self) -> bool:
        """Whether the receiver has taken the event."""
        return self.status is not None and self.status // 100 == 2  # noqa: PLR2004


@dataclass(frozen=True, slots=True, kw_only=True)
class WebhookSheet:
    """A webhook on its page."""

    resource: WebhookResource
    lines: Sequence[LogLine]
    used_by: Sequence[str]
    secret_end: str
    share: BreakingShare


def webhook_list(request: HttpRequest, fmt: str) -> HttpResponseBase:
    """List the webhooks of the person who asks."""
    return _page(request, fmt)


def refused(request: HttpRequest, _: object, form: ChangeForm) -> HttpResponseBase:
    """Show the page, and why a change was refused."""
    return _page(request, "html", form=form)


def with_secret(
    request: HttpRequest, _: object, result: WebhookWithSecret
) -> HttpResponseBase:
    """Show the secret of a webhook, this once."""
    return _page(request, "html", issued=result)


def _page(
    request: HttpRequest,
    fmt: str,
    *,
    form: ChangeForm | None = None,
    issued: WebhookWithSecret | None = None,
) -> HttpResponseBase:
    user = signed_in(request)
    if fmt != "html":
        data = Webhooks(webhooks=webhooks_of(user))
        return respond(request, fmt, template="", context={}, data=data)
    is_plain = form is None and issued is None
    asked = cleaned(WebhooksForm(request.GET)) if is_plain else {}
    show = str(asked.get("show") or "")
    found = user.webhooks.select_related("user").prefetch_related("follows")
    sheets = [_sheet(user, one, show) for one in found.order_by("created_at", "id")]
    return respond(
        request,
        fmt,
        template="notices/webhooks.html",
        context={
            "tab": "webhooks",
            "sheets": sheets,
            "num_followed": user.follows.count(),
            "num_webhooks": len(sheets),
            "issued": issued,
            "asked": asked,
            "opened": asked.get("change"),
            "show": show,
            "shows": SHOWS.items(),
            "max_attempts": MAX_ATTEMPTS,
            "kept_days": settings.EVENT_DAYS,
            "errors": sentences_of(form) if form else [],
        },
        data=None,
        status=form.status if form else 200,
    )


def _sheet(user: User, webhook: Webhook, show: str) -> WebhookSheet:
    follows = list(webhook.follows.all())
    return WebhookSheet(
        resource=webhook_resource(webhook),
        lines=_lines(user, webhook, show),
        used_by=[one.subject_name for one in follows],
        secret_end=secret_of(webhook).rstrip("=")[-4:],
        share=breaking_share(user, follows, now=timezone.now()),
    )


def _lines(user: User, webhook: Webhook, show: str) -> list[LogLine]:
    """Return the lines of a log, without events that the person no longer sees."""
    if show == "waiting":
        waiting = webhook.deliveries.waiting().select_related("event").order_by("id")
        found = list(waiting[:SHOWN])
        seen = _seen(user, found)
        return [_waiting(one) for one in found if one.pk in seen]
    attempts = Attempt.objects.filter(delivery__webhook=webhook)
    if show == "failures":
        attempts = attempts.exclude(status__gte=200, status__lt=300)
    rows = list(attempts.select_related("delivery__event").order_by("-id")[:SHOWN])
    seen = _seen(user, [one.delivery for one in rows])
    return [
        _line(one, with_answers=user.is_admin)
        for one in rows
        if one.delivery_id in seen
    ]


def _seen(user: User, deliveries: Sequence[Delivery]) -> set[int]:
    """Return the ids of deliveries that a log may name: tests and visible events."""
    events = [one.event for one in deliveries if one.event is not None]
    visible = {event.id for event in visible_events(user, events)}
    return {
        one.pk for one in deliveries if one.event is None or one.event_id in visible
    }


def _line(attempt: Attempt, *, with_answers: bool) -> LogLine:
    words, about = _texts(attempt.delivery)
    return LogLine(
        at=attempt.at,
        words=words,
        about=about,
        status=attempt.status,
        reason=attempt.reason,
        answer=attempt.answer if with_answers else "",
        number=attempt.number,
        took_s=attempt.took_s,
        delivery_id=attempt.delivery_id,
        is_waiting=False,
    )


def _waiting(delivery: Delivery) -> LogLine:
    words, about = _texts(delivery)
    return LogLine(
        at=delivery.due_at,
        words=words,
        about=about,
        status=None,
        reason="",
        answer="",
        number=delivery.num_attempts + 1,
        took_s=None,
        delivery_id=delivery.pk,
        is_waiting=True,
    )


def _texts(delivery: Delivery) -> tuple[str, str]:
    event = delivery.event
    if event is None:
        return "Test", ""
    kind = event_kinds().get(event.kind)
    version = event.payload.get("version")
    about = (
        event.subject_name if version is None else f"{event.subject_name} v{version}"
    )
    return (kind.words if kind else event.kind), about
