"""Following: begin, change and stop it, and read what arrived."""

from dataclasses import dataclass
from typing import Final, Literal, TypeVar
from uuid import UUID

from django.db import transaction
from django.shortcuts import resolve_url

from apps.accounts.models import User
from apps.notices.errors import (
    EventKindUnknownError,
    FollowNotFoundError,
    NoChannelError,
    NothingChosenError,
    TooManyFollowedError,
    WebhookNotFoundError,
)
from apps.notices.following.resource import Following, FollowResource, follow_resource
from apps.notices.following.subjects import OWNED, FollowedSubjects, subjects_of
from apps.notices.models import Follow, Notice, Webhook
from apps.pages.actions import Action, Stamp, report
from apps.pages.changes.change import VIEWER, Call, Change, Nothing, Page, Subject
from apps.pages.changes.parameters import Line, parameter
from apps.pages.changes.read import Read, reads
from apps.pages.request.changes import UNCHANGED, Unchanged

MAX_FOLLOWS: Final = 1_000
SCHEMA: Final = "table.schema"
NOT_FIRST: Final = frozenset({"table.version"})
"""Kinds that are not chosen at first, because most tables have them often."""
ROUTE: Final = "follows/<int:follow_id>"
PAGES: Final = "notifications/following"
KINDS: Final = Line(label="Events", is_boxes=True)
T = TypeVar("T")


@dataclass(frozen=True, slots=True, kw_only=True)
class NewFollow:
    """A subject to follow.

    Attributes:
        subject: `table`, `namespace`, `share`, `recipient`, `job`, or `owned` for all
            tables that you own.
        name: Its name, such as `sales.orders` or `sales.*`; the id of a job; empty for
            `owned`.
        kinds: The kinds of events, such as `table.schema`. If left out, all kinds that
            the subject has, except new versions.
        breaking_only: Whether versions and schema changes count only if they break
            readers.
        bell: Whether events are shown under the bell.
        mail: Whether events are mailed to your confirmed address.
        webhooks: The ids of your webhooks that get the events.
        often: How often mail is sent: `once` for at once, `daily`, or `weekly`.
    """

    subject: str = parameter(
        "table", None, line=Line(label="Subject", most=32, codes=("not-followable",))
    )
    name: str = parameter("", None, line=Line(label="Name", most=500))
    kinds: list[str] | Unchanged = parameter(UNCHANGED, None)
    breaking_only: bool = True
    bell: bool = True
    mail: bool = False
    webhooks: list[str] | Unchanged = parameter(UNCHANGED, None)
    often: Literal["once", "daily", "weekly"] = "once"


@dataclass(frozen=True, slots=True, kw_only=True)
class FollowSettings:
    """The changes of a followed subject; a value that is left out stays.

    Attributes:
        kinds: The kinds of events.
        breaking_only: Whether versions and schema changes count only if they break
            readers.
        bell: Whether events are shown under the bell.
        mail: Whether events are mailed.
        webhooks: The ids of your webhooks that get the events.
        often: How often mail is sent: `once`, `daily` or `weekly`.
    """

    kinds: list[str] | Unchanged = parameter(UNCHANGED, None, line=KINDS)
    breaking_only: bool | Unchanged = parameter(
        UNCHANGED, None, line=Line(label="Only breaking changes"), action="store_true"
    )
    bell: bool | Unchanged = parameter(
        UNCHANGED, None, line=Line(label="Bell"), action="store_true"
    )
    mail: bool | Unchanged = parameter(
        UNCHANGED, None, line=Line(label="Mail"), action="store_true"
    )
    webhooks: list[str] | Unchanged = parameter(
        UNCHANGED, None, line=Line(label="Webhooks", is_boxes=True)
    )
    often: Literal["once", "daily", "weekly"] | Unchanged = parameter(
        UNCHANGED, None, line=Line(label="How often", wrong="Choose how often.")
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class MarkedRead:
    """Notifications that count as read.

    Attributes:
        num_read: How many were new.
    """

    num_read: int


def own_follow(caller: User, follow_id: int) -> Follow:
    """Return a followed subject of the user who asks.

    Raises:
        FollowNotFoundError: If it does not exist.
    """
    found = Follow.objects.filter(user=caller, id=follow_id).first()
    if found is None:
        raise FollowNotFoundError(name=str(follow_id))
    return found


def find_follow(user: User, kind: str, name: str) -> Follow:
    """Return a followed subject of a user by the name that it was followed by.

    Raises:
        FollowNotFoundError: If it does not exist.
    """
    found = user.follows.filter(subject_kind=kind).select_related("user")
    for one in found:
        if kind == OWNED or one.subject_name == name:
            return one
    raise FollowNotFoundError(name=name or kind)


def oneself(caller: User) -> User:
    """Return the user who asks."""
    return caller


def begin(user: User, new: NewFollow, stamp: Stamp) -> FollowResource:
    """Follow a subject; one that is followed gets the new choices.

    The subject is looked up as its page would be, so a hidden one is an unknown one.
    """
    subjects = subjects_of(new.subject)
    found = subjects.find(user, new.name)
    if user.follows.count() >= MAX_FOLLOWS:
        raise TooManyFollowedError(most=MAX_FOLLOWS)
    with transaction.atomic():
        follow, _ = Follow.objects.update_or_create(
            user=user,
            subject_kind=found.kind,
            subject_id=found.id,
            defaults={
                "subject_name": found.name,
                "kinds": _kinds(subjects, new.kinds),
                "breaking_only": new.breaking_only,
                "by_bell": new.bell,
                "by_mail": new.mail,
                "often": Follow.Often(new.often),
            },
            create_defaults={
                "subject_name": found.name,
                "kinds": _kinds(subjects, new.kinds),
                "breaking_only": new.breaking_only,
                "by_bell": new.bell,
                "by_mail": new.mail,
                "often": Follow.Often(new.often),
                "created_at": stamp.at,
            },
        )
        if not isinstance(new.webhooks, Unchanged):
            follow.webhooks.set(_own_webhooks(user, new.webhooks))
        _check(follow)
        report(_action("follow.begin", follow, stamp))
    return follow_resource(follow)


def follow_also(user: User, new: NewFollow, stamp: Stamp) -> FollowResource:
    """Follow a subject by webhooks; one that is followed keeps what it has.

    Kinds that are chosen and webhooks are added to it. It stays limited to breaking
    changes only if the new kinds are limited, too.
    """
    found = subjects_of(new.subject).find(user, new.name)
    follow = user.follows.filter(subject_kind=found.kind, subject_id=found.id).first()
    if follow is None:
        return begin(user, new, stamp)
    kinds, breaking, webhooks = new.kinds, follow.breaking_only, new.webhooks
    if not isinstance(kinds, Unchanged):
        kinds, breaking = [*follow.kinds, *kinds], breaking and new.breaking_only
    if not isinstance(webhooks, Unchanged):
        webhooks = [*(str(one.id) for one in follow.webhooks.all()), *webhooks]
    more = FollowSettings(kinds=kinds, breaking_only=breaking, webhooks=webhooks)
    return change(follow, more, stamp)


def change(follow: Follow, new: FollowSettings, stamp: Stamp) -> FollowResource:
    """Change what is followed of a subject."""
    if not isinstance(new.kinds, Unchanged):
        follow.kinds = _kinds(subjects_of(follow.subject_kind), new.kinds)
    follow.breaking_only = _value(new.breaking_only, follow.breaking_only)
    follow.by_bell = _value(new.bell, follow.by_bell)
    follow.by_mail = _value(new.mail, follow.by_mail)
    follow.often = Follow.Often(_value(new.often, follow.often))
    follow.save()
    if not isinstance(new.webhooks, Unchanged):
        follow.webhooks.set(_own_webhooks(follow.user, new.webhooks))
    _check(follow)
    report(_action("follow.change", follow, stamp))
    return follow_resource(follow)


def only_breaking(follow: Follow, _: Nothing, stamp: Stamp) -> FollowResource:
    """Let a follower hear of breaking schema changes alone."""
    new = FollowSettings(kinds=[SCHEMA], breaking_only=True)
    return change(follow, new, stamp)


def stop(follow: Follow, _: Nothing, stamp: Stamp) -> FollowResource:
    """Stop following a subject."""
    shown = follow_resource(follow)
    report(_action("follow.stop", follow, stamp))
    follow.delete()
    return shown


def mark_read(user: User, _: Nothing, stamp: Stamp) -> MarkedRead:
    """Mark all notifications of a user as read."""
    new = Notice.objects.filter(user=user, by_bell=True, read_at=None)
    num_read = new.update(read_at=stamp.at)
    User.objects.filter(id=user.pk).update(num_new=0)
    return MarkedRead(num_read=num_read)


def _kinds(subjects: FollowedSubjects, chosen: list[str] | Unchanged) -> list[str]:
    """Return the names of kinds in their order; the usual ones for UNCHANGED."""
    known = [one.name for one in subjects.kinds()]
    if isinstance(chosen, Unchanged):
        return [one for one in known if one not in NOT_FIRST]
    for name in chosen:
        if name not in known:
            raise EventKindUnknownError(kind=name, known=", ".join(known))
    if not chosen:
        raise NothingChosenError
    return [one for one in known if one in chosen]


def _own_webhooks(user: User, ids: list[str]) -> list[Webhook]:
    found = []
    for text in ids:
        try:
            found.append(Webhook.objects.get(user=user, id=UUID(text)))
        except (ValueError, Webhook.DoesNotExist):
            raise WebhookNotFoundError(name=text) from None
    return found


def _check(follow: Follow) -> None:
    if not (follow.by_bell or follow.by_mail or follow.webhooks.exists()):
        raise NoChannelError


def _value(new: T | Unchanged, old: T) -> T:
    return old if isinstance(new, Unchanged) else new


def _action(name: str, follow: Follow, stamp: Stamp) -> Action:
    detail = {
        "user": follow.user.username,
        "subject": f"{follow.subject_kind}:{follow.subject_name}",
        "kinds": follow.kinds,
    }
    return Action(name=name, stamp=stamp, detail=detail)


def _list(_: object) -> str:
    return resolve_url("notices:following")


OWN: Final = Subject(noun="follow", role=VIEWER, scope="write", find=own_follow)
ONESELF: Final = Subject(noun="follow", role=VIEWER, scope="write", find=oneself)
BEGIN: Final = Change(
    of=ONESELF,
    name="begin",
    help="Follow a table, namespace, share, recipient or job.",
    more="A subject that is followed already gets the new choices.",
    parameters=NewFollow,
    do=begin,
    result=FollowResource,
    says=lambda one: f"You follow {one.name}.",
    record=("follow.begin",),
    call=Call("POST", "follows", view="FollowList"),
    page=Page(PAGES, back=_list, name="follow-begin"),
)
CHANGE: Final = Change(
    of=OWN,
    name="change",
    help="Change the events and channels of something that you follow.",
    parameters=FollowSettings,
    do=change,
    result=FollowResource,
    says=lambda one: f"Saved what you follow of {one.name}.",
    record=("follow.change",),
    call=Call("PATCH", ROUTE, view="Follow"),
    page=Page(f"{PAGES}/<int:follow_id>/change", back=_list, name="follow-change"),
)
BREAKING: Final = Change(
    of=OWN,
    name="breaking",
    help="Hear of breaking schema changes only.",
    parameters=Nothing,
    do=only_breaking,
    result=FollowResource,
    says=lambda one: f"You hear of breaking schema changes of {one.name} only.",
    record=("follow.change",),
    page=Page(f"{PAGES}/<int:follow_id>/breaking", back=_list, name="follow-breaking"),
)
STOP: Final = Change(
    of=OWN,
    name="stop",
    help="Stop following a subject.",
    parameters=Nothing,
    do=stop,
    result=FollowResource,
    says=lambda one: f"You do not follow {one.name} any more.",
    record=("follow.stop",),
    call=Call("DELETE", ROUTE, view="Follow"),
    page=Page(f"{PAGES}/<int:follow_id>/stop", back=_list, name="follow-stop"),
)
READ: Final = Change(
    of=ONESELF,
    name="read",
    help="Mark all your notifications as read.",
    parameters=Nothing,
    do=mark_read,
    result=MarkedRead,
    says=lambda _: "All notifications are read.",
    record=("follow.read",),
    call=Call("POST", "notifications/read", view="NotificationsRead", status=200),
    page=Page(
        "notifications/read",
        back=lambda _: resolve_url("notices:received"),
        name="follow-read",
    ),
)
reads.register(
    Read(
        route="follows",
        view="FollowList",
        page="notices:following",
        shows=Following,
        without="q breaking change subject name new",
        help="List what you follow.",
        role=VIEWER,
    ),
)
