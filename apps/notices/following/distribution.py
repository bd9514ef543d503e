"""The distribution of published events: who is told of each, and by which channel.

One transaction serves a batch of events and moves the row that says how far it came.
So a killed process leaves nothing half done, and no event is served twice.
"""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime, time, timedelta
from typing import Final

from django.conf import settings
from django.db import transaction
from django.db.models import F, Q

from apps.accounts.lifetimes.suspension import not_suspended
from apps.accounts.models import User
from apps.accounts.zones import user_zone
from apps.news.publishing import publish
from apps.notices.events.visibility import visible_events
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


def begin_at_newest(number: int) -> None:
    """Skip the events up to a number: after a restore, they were served before."""
    with transaction.atomic():
        row = Distribution.locked()
        row.number = number
        row.save(update_fields=["number"])


def wants(follow: Follow, event: Event) -> bool:
    """Return whether a follower wants an event of the subject."""
    if event.kind not in follow.kinds:
        return False
    return not follow.breaking_only or breaks_or_other(event)


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
    keys = keys_of(events)
    follows = follows_of(set().union(*keys.values()), now)
    wanted: dict[User, dict[int, list[Follow]]] = defaultdict(dict)
    for event in events:
        for key in keys[event.id]:
            for follow in follows.get(key, ()):
                if wants(follow, event):
                    wanted[follow.user].setdefault(event.id, []).append(follow)
    told = people_of(events, now)
    for user, event_ids in told.items():
        for event_id in event_ids:
            wanted[user].setdefault(event_id, [])
    by_id = {one.id: one for one in events}
    notices: list[Notice] = []
    deliveries: list[Delivery] = []
    for user, found in wanted.items():
        seen = visible_events(user, [by_id[one] for one in sorted(found)])
        own = told.get(user, set())
        new = [
            _notice(user, one, found[one.id], now, is_concerned=one.id in own)
            for one in seen
        ]
        notices += filter(None, new)
        deliveries += _deliveries(seen, found, now)
    Notice.objects.bulk_create(notices, batch_size=CHUNK, ignore_conflicts=True)
    deliveries.sort(key=lambda one: one.event_id or 0)
    Delivery.objects.bulk_create(deliveries, batch_size=CHUNK, ignore_conflicts=True)
    _count(notices)


def _notice(
    user: User,
    event: Event,
    follows: Sequence[Follow],
    now: datetime,
    *,
    is_concerned: bool,
) -> Notice | None:
    """Return what a person is told; None if all channels are webhooks.

    What concerns a person is told at once by the bell, and by mail if that is possible.
    """
    can_mail = bool(settings.EMAIL_HOST and user.mail_address)
    mails = [mail_due_at(one, now) for one in follows if one.by_mail and can_mail]
    if is_concerned and can_mail:
        mails.append(now)
    by_bell = is_concerned or any(one.by_bell for one in follows)
    if not mails and not by_bell:
        return None
    return Notice(
        user=user,
        event=event,
        created_at=now,
        by_bell=by_bell,
        mail_due_at=min(mails, default=None),
    )


def _deliveries(
    events: Iterable[Event], found: Mapping[int, Sequence[Follow]], now: datetime
) -> list[Delivery]:
    """Return the rows of webhooks, one for each event however often it is wanted."""
    rows: dict[tuple[object, int], Delivery] = {}
    for event in events:
        for follow in found[event.id]:
            for webhook in follow.webhooks.all():
                if webhook.breaking_only and not breaks_or_other(event):
                    continue
                rows[webhook.pk, event.id] = _delivery(webhook, event, now)
    return list(rows.values())


def _delivery(webhook: Webhook, event: Event, now: datetime) -> Delivery:
    order = str(event.table_id or f"{event.subject_kind}:{event.subject_id}")[:64]
    return Delivery(
        webhook=webhook, event=event, order=order, created_at=now, due_at=now
    )


def _count(notices: Iterable[Notice]) -> None:
    """Add the new notices to the number beside each bell."""
    counts: dict[int, int] = defaultdict(int)
    for one in notices:
        if one.by_bell:
            counts[one.user_id] += 1
    by_count: dict[int, list[int]] = defaultdict(list)
    for user_id, count in counts.items():
        by_count[count].append(user_id)
    for count, ids in by_count.items():
        User.objects.filter(id__in=ids).update(num_new=F("num_new") + count)
    for user_id in counts:
        publish(f"{BELL}:{user_id}")
