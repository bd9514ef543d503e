"""Webhooks: add, change, test, resume and remove them, and send an event again."""

from contextlib import suppress
from dataclasses import MISSING, dataclass
from datetime import datetime
from typing import Final
from uuid import UUID

from django.shortcuts import resolve_url

from apps.accounts.models import User
from apps.notices.changes.follows import oneself
from apps.notices.errors import (
    DeliveryNotFoundError,
    TooManyFollowedError,
    WebhookNotFoundError,
    WebhookNotPausedError,
)
from apps.notices.models import Delivery, Webhook
from apps.notices.sending.posting import checked_url, host_of_url
from apps.notices.sending.signing import new_salt, secret_of
from apps.pages.actions import Action, Stamp, report
from apps.pages.changes.change import VIEWER, Call, Change, Nothing, Page, Subject
from apps.pages.changes.parameters import Line, parameter
from apps.pages.changes.read import Read, reads
from apps.pages.page_json import Spread
from apps.pages.request.changes import UNCHANGED, Unchanged
from deltaweb.words import counted

MAX_WEBHOOKS: Final = 50
ROUTE: Final = "webhooks/<uuid:webhook_id>"
PAGES: Final = "notifications/webhooks"
URL: Final = Line(
    label="Address",
    most=2000,
    is_needed=True,
    wrong="Give an address.",
    placeholder="https://ci.example.org/hooks/deltaweb",
    codes=("webhook-url-invalid",),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class NewWebhook:
    """An address that gets events as signed requests.

    Attributes:
        url: The address: `https` and a public host, or a host that an administrator
            has named in `DELTAWEB_WEBHOOK_HOSTS`.
        breaking_only: Whether versions and schema changes are sent only if they break
            readers.
    """

    url: str = parameter(MISSING, line=URL)
    breaking_only: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class WebhookSettings:
    """The changes of a webhook; a value that is left out stays.

    Attributes:
        url: The address.
        breaking_only: Whether versions and schema changes are sent only if they break
            readers.
    """

    url: str | Unchanged = parameter(UNCHANGED, None, line=URL)
    breaking_only: bool | Unchanged = parameter(
        UNCHANGED,
        None,
        line=Line(label="Breaking schema changes only"),
        action="store_true",
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class WebhookResource:
    """A webhook.

    Attributes:
        user: The name of its owner, whose permissions decide what is sent.
        paused_at: When it was paused; null while events are sent.
        pause_reason: Why, in half a sentence.
        num_waiting: The number of events that wait to be sent.
    """

    url: str
    host: str
    user: str
    breaking_only: bool
    paused_at: datetime | None
    pause_reason: str
    num_waiting: int
    created_at: datetime
    id: UUID


@dataclass(frozen=True, slots=True, kw_only=True)
class WebhookWithSecret:
    """A webhook with its secret.

    Attributes:
        secret: The key of signatures, as libraries of Standard Webhooks take it. It is
            shown only once.
    """

    resource: Spread[WebhookResource]
    secret: str


@dataclass(frozen=True, slots=True, kw_only=True)
class QueuedDelivery:
    """An event that is about to be sent.

    Attributes:
        message_id: The id that the receiver sees.
    """

    host: str
    message_id: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Webhooks:
    """The webhooks of a person."""

    webhooks: list[WebhookResource]


def own_webhook(caller: User, webhook_id: UUID) -> Webhook:
    """Return a webhook of the user who asks.

    Raises:
        WebhookNotFoundError: If it does not exist.
    """
    found = Webhook.objects.filter(user=caller, id=webhook_id).first()
    if found is None:
        raise WebhookNotFoundError(name=str(webhook_id))
    return found


def find_webhook(name: str) -> Webhook:
    """Return a webhook by its id, or by a host that no other one has.

    Raises:
        WebhookNotFoundError: If it does not exist, or there are several.
    """
    rows = Webhook.objects.select_related("user")
    with suppress(ValueError):
        if by_id := rows.filter(id=UUID(name)).first():
            return by_id
    found = list(rows.filter(host=name.lower())[:2])
    if len(found) != 1:
        raise WebhookNotFoundError(name=name)
    return found[0]


def own_delivery(
    caller: User, webhook_id: UUID, delivery_id: int
) -> tuple[Webhook, Delivery]:
    """Return a webhook of the user who asks, and a delivery of it.

    Raises:
        DeliveryNotFoundError: If it does not exist.
    """
    webhook = own_webhook(caller, webhook_id)
    found = webhook.deliveries.filter(id=delivery_id).select_related("event").first()
    if found is None:
        raise DeliveryNotFoundError
    return webhook, found


def webhook_resource(webhook: Webhook) -> WebhookResource:
    """Return a webhook as machine forms have it."""
    return WebhookResource(
        url=webhook.url,
        host=webhook.host,
        user=webhook.user.username,
        breaking_only=webhook.breaking_only,
        paused_at=webhook.paused_at,
        pause_reason=webhook.pause_reason,
        num_waiting=webhook.deliveries.waiting().count(),
        created_at=webhook.created_at,
        id=webhook.pk,
    )


def webhooks_of(user: User) -> list[WebhookResource]:
    """Return the webhooks of a person, the oldest first."""
    found = user.webhooks.select_related("user").order_by("created_at", "id")
    return [webhook_resource(one) for one in found]


def add(user: User, new: NewWebhook, stamp: Stamp) -> WebhookWithSecret:
    """Add a webhook. What is followed decides what it gets."""
    url = checked_url(new.url)
    if user.webhooks.count() >= MAX_WEBHOOKS:
        raise TooManyFollowedError(most=MAX_WEBHOOKS)
    webhook = Webhook.objects.create(
        user=user,
        url=url,
        host=host_of_url(url),
        salt=new_salt(),
        breaking_only=new.breaking_only,
        created_at=stamp.at,
    )
    report(_action("webhook.add", webhook, stamp))
    return _with_secret(webhook)


def change(webhook: Webhook, new: WebhookSettings, stamp: Stamp) -> WebhookResource:
    """Change the address of a webhook, or what is sent."""
    if not isinstance(new.url, Unchanged):
        webhook.url = checked_url(new.url)
        webhook.host = host_of_url(webhook.url)
    if not isinstance(new.breaking_only, Unchanged):
        webhook.breaking_only = new.breaking_only
    webhook.save(update_fields=["url", "host", "breaking_only"])
    report(_action("webhook.change", webhook, stamp))
    return webhook_resource(webhook)


def new_secret(webhook: Webhook, _: Nothing, stamp: Stamp) -> WebhookWithSecret:
    """Replace the secret; signatures of the former one end at once."""
    webhook.salt = new_salt()
    webhook.save(update_fields=["salt"])
    report(_action("webhook.new_secret", webhook, stamp))
    return _with_secret(webhook)


def send_test(webhook: Webhook, _: Nothing, stamp: Stamp) -> QueuedDelivery:
    """Queue an event that says that it is a test."""
    delivery = Delivery.objects.create(
        webhook=webhook, order="test", created_at=stamp.at, due_at=stamp.at
    )
    report(_action("webhook.test", webhook, stamp))
    return QueuedDelivery(host=webhook.host, message_id=delivery.message_id)


def send_again(
    found: tuple[Webhook, Delivery], _: Nothing, stamp: Stamp
) -> QueuedDelivery:
    """Queue an event again, with its id of before."""
    webhook, delivery = found
    delivery.state = Delivery.State.WAITING
    delivery.num_attempts, delivery.due_at = 0, stamp.at
    delivery.save(update_fields=["state", "num_attempts", "due_at"])
    report(_action("webhook.send_again", webhook, stamp))
    return QueuedDelivery(host=webhook.host, message_id=delivery.message_id)


def resume(webhook: Webhook, _: Nothing, stamp: Stamp) -> WebhookResource:
    """Send the events that wait, the oldest of each table first, and go on.

    Raises:
        WebhookNotPausedError: If it is not paused.
    """
    if webhook.paused_at is None:
        raise WebhookNotPausedError(host=webhook.host)
    webhook.paused_at, webhook.pause_reason = None, ""
    webhook.save(update_fields=["paused_at", "pause_reason"])
    webhook.deliveries.waiting().update(num_attempts=0, due_at=stamp.at)
    report(_action("webhook.resume", webhook, stamp))
    return webhook_resource(webhook)


def remove(webhook: Webhook, _: Nothing, stamp: Stamp) -> WebhookResource:
    """Remove a webhook, with the events that wait for it and its log."""
    shown = webhook_resource(webhook)
    report(_action("webhook.remove", webhook, stamp))
    webhook.delete()
    return shown


def _with_secret(webhook: Webhook) -> WebhookWithSecret:
    return WebhookWithSecret(
        resource=webhook_resource(webhook), secret=secret_of(webhook)
    )


def _action(name: str, webhook: Webhook, stamp: Stamp) -> Action:
    # The path of an address may be a secret.
    detail = {"user": webhook.user.username, "host": webhook.host}
    return Action(name=name, stamp=stamp, detail=detail)


def _kept(one: WebhookWithSecret) -> dict[str, str]:
    return {"host": one.resource.host, "id": str(one.resource.id)}


def _list(_: object) -> str:
    return resolve_url("notices:webhooks")


def _page(action: str, name: str) -> Page:
    return Page(
        f"{PAGES}/<uuid:webhook_id>/{action}", back=_list, name=f"webhook-{name}"
    )


OWN: Final = Subject(noun="webhook", role=VIEWER, scope="write", find=own_webhook)
NEW: Final = Subject(noun="webhook", role=VIEWER, scope="write", find=oneself)
OF_WEBHOOK: Final = Subject(
    noun="webhook", role=VIEWER, scope="write", find=own_delivery
)
ADD: Final = Change(
    of=NEW,
    name="add",
    help="Add an address that gets events as signed requests.",
    more="What you follow decides which events; see the field `webhooks` of a follow.",
    parameters=NewWebhook,
    do=add,
    result=WebhookWithSecret,
    says=lambda one: f"Added {one.resource.host}. Its secret is {one.secret}",
    kept=_kept,
    record=("webhook.add",),
    call=Call("POST", "webhooks", view="WebhookList"),
    page=Page(PAGES, back=_list, name="webhook-add"),
)
CHANGE: Final = Change(
    of=OWN,
    name="change",
    help="Change the address of a webhook, or what is sent.",
    parameters=WebhookSettings,
    do=change,
    result=WebhookResource,
    says=lambda one: f"Saved {one.host}.",
    record=("webhook.change",),
    call=Call("PATCH", ROUTE, view="Webhook"),
    page=_page("change", "change"),
)
NEW_SECRET: Final = Change(
    of=OWN,
    name="new-secret",
    help="Replace the secret of a webhook.",
    parameters=Nothing,
    do=new_secret,
    result=WebhookWithSecret,
    says=lambda one: f"The secret of {one.resource.host} is {one.secret}",
    kept=_kept,
    record=("webhook.new_secret",),
    call=Call("POST", f"{ROUTE}/secret", view="WebhookSecret", status=200),
    page=_page("secret", "new-secret"),
)
TEST: Final = Change(
    of=OWN,
    name="test",
    help="Send a test to a webhook.",
    parameters=Nothing,
    do=send_test,
    result=QueuedDelivery,
    says=lambda one: f"A test is sent to {one.host}. The log shows the answer.",
    record=("webhook.test",),
    call=Call("POST", f"{ROUTE}/tests", view="WebhookTests", status=202),
    page=_page("test", "test"),
)
RESUME: Final = Change(
    of=OWN,
    name="resume",
    help="Send the events that wait for a paused webhook.",
    parameters=Nothing,
    do=resume,
    result=WebhookResource,
    says=lambda one: f"{counted(one.num_waiting, 'event')} will be sent to {one.host}.",
    record=("webhook.resume",),
    call=Call("POST", f"{ROUTE}/resume", view="WebhookResume", status=200),
    page=_page("resume", "resume"),
)
REMOVE: Final = Change(
    of=OWN,
    name="remove",
    help="Remove a webhook, with the events that wait for it and its log.",
    parameters=Nothing,
    do=remove,
    result=WebhookResource,
    says=lambda one: f"Removed {one.host}.",
    record=("webhook.remove",),
    call=Call("DELETE", ROUTE, view="Webhook"),
    page=_page("remove", "remove"),
)
SEND_AGAIN: Final = Change(
    of=OF_WEBHOOK,
    name="send-again",
    help="Send an event to a webhook again.",
    more="It has the same id as before, so the receiver can tell.",
    parameters=Nothing,
    do=send_again,
    result=QueuedDelivery,
    says=lambda one: f"The event is sent to {one.host} again.",
    record=("webhook.send_again",),
    call=Call(
        "POST",
        f"{ROUTE}/deliveries/<int:delivery_id>/again",
        view="WebhookDeliveryAgain",
        status=202,
    ),
    page=_page("deliveries/<int:delivery_id>/again", "send-again"),
)
reads.register(
    Read(
        route="webhooks",
        view="WebhookList",
        page="notices:webhooks",
        shows=Webhooks,
        without="new change show",
        help="List your webhooks.",
        role=VIEWER,
    ),
)
