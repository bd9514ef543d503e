"""The distribution of published events: who is told of each, and by which channel.

One transaction serves a batch of events and moves the row that says how far it came.
So a killed process leaves nothing half done, and no event is served twice.
"""

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import datetime, time, timedelta
from typing import Final, NamedTuple

from django.conf import settings
from django.db import transaction
from django.db.models import F, Q

from apps.accounts.lifetimes.suspension import not_suspended
from apps.accounts.models import User
from apps.accounts.zones import user_zone
from apps.news.publishing import publish
from apps.notices.events.visibility import event_viewers
from apps.notices.following.concerned import people_of
from apps.notices.following.subjects import BELL, parents
from apps.notices.models import Delivery, Distribution, Event, Follow, Notice, Webhook

BATCH: Final = 200
CHUNK: Final = 500  # rows of one statement
SCHEMA_KINDS: Final = frozenset({"table.version", "table.schema"})
MORNING: Final = time(8)
Key = tuple[str, str]


def distribute(*, now: datetime) -> int:
    """Serve all events that were published since the last time; return how many."""
    served = Distribution.objects.values_list("number", flat=True).first() or 0
    if not Event.objects.after(served).exists():  # so that idle ticks take no lock
        return 0
    total = 0
    while True:
        with transaction.atomic():
            row = Distribution.locked()
            events = list(Event.objects.after(row.number)[:BATCH])
            if events:
                _serve(events, now)
                row.number = events[-1].number or row.number
                row.save(update_fields=["number"])
        total += len(events)
        if len(events) < BATCH:
            return total


def wants(follow: Follow, event: Event) -> bool:
    """Return whether a follower wants an event of the subject."""
    return _wants(follow, event.kind, is_breaking=breaks_or_other(event))


def _wants(follow: Follow, kind: str, *, is_breaking: bool) -> bool:
    return kind in follow.kinds and (is_breaking or not follow.breaking_only)


def breaks_or_other(event: Event) -> bool:
    """Return whether an event is no version or schema change, or a breaking one."""
    return event.kind not in SCHEMA_KINDS or bool(event.payload.get("breaking"))


def keys_of(events: Iterable[Event]) -> dict[int, set[Key]]:
    """Return the subjects whose followers hear of events, by the ids of the events."""
    events = list(events)
    above = parents({str(one.table_id) for one in events if one.table_id})
    found = {}
    for one in events:
        keys = {(one.subject_kind, one.subject_id)}
        keys.update((each["kind"], each["id"]) for each in one.also)
        if one.table_id:
            table_id = str(one.table_id)
            keys |= {("table", table_id), *above[table_id]}
        found[one.id] = keys
    return found


def follows_of(
    keys: Iterable[Key], now: datetime, which: Q | None = None
) -> dict[Key, list[Follow]]:
    """Return the followers of subjects who can be told of something.

    Args:
        which: A further condition of follows.
    """
    by_kind: dict[str, set[str]] = defaultdict(set)
    for kind, subject_id in keys:
        by_kind[kind].add(subject_id)
    wanted = Q()
    for kind, ids in by_kind.items():
        wanted |= Q(subject_kind=kind, subject_id__in=ids)
    active = User.objects.filter(not_suspended(now), is_active=True)
    rows = Follow.objects.filter(wanted, which or Q(), user__in=active)
    rows = rows.select_related("user")
    found: dict[Key, list[Follow]] = defaultdict(list)
    for follow in rows.prefetch_related("webhooks"):
        found[follow.subject_kind, follow.subject_id].append(follow)
    return found


def mailed_ids(user: User, events: Iterable[Event], now: datetime) -> set[int]:
    """Return the ids of those of some events that a person still wants by mail.

    Up to a week passes between an event and its mail, in which people stop to follow.
    What concerns a person is sent without a follow.
    """
    events = list(events)
    own = people_of(events, now).get(user, set())
    keys = keys_of(events)
    follows = follows_of(set().union(*keys.values()), now, Q(user=user, by_mail=True))
    return {
        event.id
        for event in events
        if event.id in own
        or any(
            wants(follow, event)
            for key in keys[event.id]
            for follow in follows.get(key, ())
        )
    }


def mail_due_at(follow: Follow, now: datetime) -> datetime:
    """Return when the mail with an event of now is sent, in the zone of the person."""
    if follow.often == Follow.Often.ONCE:
        return now
    here = now.astimezone(user_zone(follow.user))
    morning = datetime.combine(here.date(), MORNING, tzinfo=here.tzinfo)
    days = (7 - here.weekday()) % 7 if follow.often == Follow.Often.WEEKLY else 0
    morning += timedelta(days=days)
    if morning <= here:
        morning += timedelta(days=7 if follow.often == Follow.Often.WEEKLY else 1)
    return morning


def _serve(events: Sequence[Event], now: datetime) -> None:
    """Write the notices and deliveries of events, without a query for each person."""
    hearers, people = _hearers(events, now)
    concerned_ids: dict[int, set[int]] = defaultdict(set)
    for user, event_ids in people_of(events, now).items():
        people[user.pk] = user
        for event_id in event_ids:
            concerned_ids[event_id].add(user.pk)
            hearers[event_id].setdefault(user.pk, [])
    wanted = {event_id: set(found) for event_id, found in hearers.items()}
    viewers = event_viewers(events, wanted, people)
    ways = _Ways(now)
    counts: Counter[int] = Counter()
    deliveries: list[Delivery] = []
    for event in events:
        groups: dict[_Way, list[int]] = defaultdict(list)
        for user_id in viewers[event.id]:
            follows = hearers[event.id][user_id]
            is_concerned = user_id in concerned_ids[event.id]
            way = ways.of(people[user_id], follows, is_concerned=is_concerned)
            if way is not None:
                groups[way].append(user_id)
            deliveries += ways.deliveries(event, follows)
        for way, user_ids in groups.items():
            Notice.add(event, sorted(user_ids), **way._asdict(), now=now)
            if way.by_bell:
                counts.update(user_ids)
    # A webhook gets an event once, however often it is wanted.
    Delivery.objects.bulk_create(deliveries, batch_size=CHUNK, ignore_conflicts=True)
    _count(counts)


def _hearers(
    events: Sequence[Event], now: datetime
) -> tuple[dict[int, dict[int, list[Follow]]], dict[int, User]]:
    """Return the people who want each event, with the follows that say so.

    Returns:
        The follows by the ids of the events and of the users, and the users by id.
    """
    keys = keys_of(events)
    follows = follows_of(set().union(*keys.values()), now)
    people = {one.user_id: one.user for its in follows.values() for one in its}
    found: dict[int, dict[int, list[Follow]]] = {}
    for event in events:
        is_breaking = breaks_or_other(event)
        hearers: dict[int, list[Follow]] = defaultdict(list)
        for key in keys[event.id]:
            for follow in follows.get(key, ()):
                if _wants(follow, event.kind, is_breaking=is_breaking):
                    hearers[follow.user_id].append(follow)
        found[event.id] = hearers
    return found, people


class _Way(NamedTuple):
    """The channels by which a person gets an event: the bell, and when a mail."""

    by_bell: bool
    mail_due_at: datetime | None


class _Ways:
    """The channels of follows, each looked up once for a batch of events."""

    def __init__(self, now: datetime) -> None:
        self._now = now
        self._mails: dict[int, datetime | None] = {}
        self._webhooks: dict[int, list[Webhook]] = {}

    def of(
        self, user: User, follows: Sequence[Follow], *, is_concerned: bool
    ) -> _Way | None:
        """Return the channels by which a person gets an event; None for webhooks alone.

        An event that concerns a person has the bell, and a mail at once if possible.
        """
        by_bell = is_concerned or any(one.by_bell for one in follows)
        mails = [due for due in map(self._mail_due_at, follows) if due is not None]
        if is_concerned and _can_mail(user):
            mails.append(self._now)
        if not mails and not by_bell:
            return None
        return _Way(by_bell, min(mails, default=None))

    def deliveries(self, event: Event, follows: Sequence[Follow]) -> Iterator[Delivery]:
        """Yield the rows of the webhooks of follows that get an event."""
        for follow in follows:
            if follow.pk not in self._webhooks:
                self._webhooks[follow.pk] = list(follow.webhooks.all())
            for webhook in self._webhooks[follow.pk]:
                if not webhook.breaking_only or breaks_or_other(event):
                    yield _delivery(webhook, event, self._now)

    def _mail_due_at(self, follow: Follow) -> datetime | None:
        if not follow.by_mail:
            return None
        if follow.pk not in self._mails:
            can_mail = _can_mail(follow.user)
            due = mail_due_at(follow, self._now) if can_mail else None
            self._mails[follow.pk] = due
        return self._mails[follow.pk]


def _can_mail(user: User) -> bool:
    return bool(settings.EMAIL_HOST and user.mail_address)


def _delivery(webhook: Webhook, event: Event, now: datetime) -> Delivery:
    order = str(event.table_id or f"{event.subject_kind}:{event.subject_id}")[:64]
    return Delivery(
        webhook=webhook, event=event, order=order, created_at=now, due_at=now
    )


def _count(counts: Mapping[int, int]) -> None:
    """Add the new notices to the number beside each bell."""
    by_count: dict[int, list[int]] = defaultdict(list)
    for user_id, count in counts.items():
        by_count[count].append(user_id)
    for count, ids in by_count.items():
        User.objects.filter(id__in=ids).update(num_new=F("num_new") + count)
    publish(*(f"{BELL}:{user_id}" for user_id in counts))
