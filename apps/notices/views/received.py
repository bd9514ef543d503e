"""The notifications of a person: the list, and the bell in the top bar."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Final

from django import forms
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponseBase
from django.shortcuts import redirect, render

from apps.accounts.models import User
from apps.accounts.permissions import signed_in
from apps.notices.errors import FollowNotFoundError
from apps.notices.events.kind import event_kinds
from apps.notices.events.visibility import subjects_of_events, visible_events
from apps.notices.following.subjects import followed_subjects
from apps.notices.models import Event, Notice
from apps.pages.lists.paging import paged
from apps.pages.request.list_page import ListPage, ListQuery, PageOfRows

IN_BELL: Final = 8
ICONS: Final = {"table": "table", "job": "list-check", "share": "share-3"}


@dataclass(frozen=True, slots=True, kw_only=True)
class NoticeResource:
    """A notification.

    Attributes:
        kind: The kind of the event, such as `table.schema`.
        subject: The kind of its subject.
        name: The name of the subject at that time.
        sentence: What happened.
        at: When it happened.
        read_at: When it was read; null if it is new.
    """

    kind: str
    subject: str
    name: str
    sentence: str
    at: datetime
    read_at: datetime | None
    id: int

    @property
    def words(self) -> str:
        """The kind for people."""
        kind = event_kinds().get(self.kind)
        return kind.words if kind else self.kind

    @property
    def icon(self) -> str:
        """The icon of the subject."""
        return ICONS.get(self.subject, "bell")


def notices_of(user: User) -> QuerySet[Notice]:
    """Return the notifications under the bell of a person, the newest first."""
    found = Notice.objects.filter(user=user, by_bell=True)
    return found.select_related("event").order_by("-id")


def seen_resources(user: User, notices: Sequence[Notice]) -> list[NoticeResource]:
    """Return notifications as far as a person may see them at this moment."""
    seen = {one.id for one in visible_events(user, [one.event for one in notices])}
    return [notice_resource(one) for one in notices if one.event_id in seen]


def notice_resource(notice: Notice) -> NoticeResource:
    """Return a notification as machine forms have it."""
    event = notice.event
    return NoticeResource(
        kind=event.kind,
        subject=event.subject_kind,
        name=event.subject_name,
        sentence=event.sentence,
        at=event.at,
        read_at=notice.read_at,
        id=notice.pk,
    )


def _filtered(user: User, query: ListQuery) -> QuerySet[Notice]:
    found = notices_of(user)
    if query["q"]:
        found = found.filter(event__sentence__icontains=query["q"])
    if query["new"]:
        found = found.filter(read_at=None)
    return found


def _page(user: User, query: ListQuery, _: datetime) -> PageOfRows[NoticeResource]:
    found = _filtered(user, query)
    place = paged(found.count(), query.page)
    rows = seen_resources(user, list(found[place.rows]))
    return PageOfRows(rows=rows, paged=place)


def _every(user: User, query: ListQuery, _: datetime) -> Iterator[NoticeResource]:
    yield from seen_resources(user, list(_filtered(user, query)[:10_000]))


NOTICES: Final = ListPage(
    entries="notifications",
    template="notices/received.html",
    filters={
        "q": forms.CharField(max_length=200, required=False),
        "new": forms.BooleanField(required=False),
    },
    page=_page,
    entry=NoticeResource,
    every=_every,
)


def received(request: HttpRequest, fmt: str) -> HttpResponseBase:
    """List the notifications of the person who asks."""
    return NOTICES.answer(request, fmt, tab="received")


def bell(request: HttpRequest) -> HttpResponseBase:
    """Show the newest notifications under the bell."""
    user = signed_in(request)
    rows = seen_resources(user, list(notices_of(user)[:IN_BELL]))
    return render(
        request, "notices/_bell.html", {"rows": rows, "num_new": user.num_new}
    )


def bell_count(request: HttpRequest) -> HttpResponseBase:
    """Show the bell with the number of new notifications."""
    return render(request, "notices/_bell_button.html")


def open_notice(request: HttpRequest, notice_id: int) -> HttpResponseBase:
    """Lead to the page of what a notification is about.

    Raises:
        FollowNotFoundError: If the person has no such notification.
    """
    user = signed_in(request)
    notice = notices_of(user).filter(id=notice_id).first()
    if notice is None or not visible_events(user, [notice.event]):
        raise FollowNotFoundError(name=str(notice_id))
    return redirect(address_of(notice.event) or "notices:received")


def address_of(event: Event) -> str | None:
    """Return the page of the subject of an event; None if it is gone."""
    for one in subjects_of_events:
        if one.kind == event.subject_kind and (found := one.url(event.subject_id)):
            return found
    for each in followed_subjects():
        if each.kind == event.subject_kind:
            named = each.named([event.subject_id]).get(event.subject_id)
            return named[1] if named else None
    return None
