"""The stream of events, as JSON and as server-sent events."""

from dataclasses import dataclass
from typing import Final

from django import forms
from django.http import HttpRequest, HttpResponse, HttpResponseBase

from apps.accounts.lifetimes.sessions import ends_at
from apps.accounts.permissions import key_of, signed_in
from apps.api.endpoint import RestView, Role, endpoint
from apps.explorer.version.query import texts_of
from apps.news.views import HOLDS, EventStream
from apps.notices.events.cloud_event import CloudEvent
from apps.notices.events.feed import (
    FeedCaller,
    feed_lines,
    first_line,
    open_feed,
)
from apps.notices.events.kind import event_kinds
from apps.notices.events.reading import (
    DEFAULT_LIMIT,
    MAX_LIMIT,
    MAX_WAIT_S,
    EventFilter,
    EventReader,
)
from apps.pages.request.parameters import QueryError, cleaned
from apps.tables.catalogue.names import parse_table_name
from apps.tables.head.finding import get_table

STREAM: Final = "text/event-stream"


class EventsForm(forms.Form):
    """The parameters of a list of events, with how long to wait for the next one."""

    after = forms.CharField(required=False, max_length=40)
    limit = forms.IntegerField(required=False, min_value=1, max_value=MAX_LIMIT)
    table = forms.CharField(required=False, max_length=401)
    wait_s = forms.IntegerField(required=False, min_value=0, max_value=MAX_WAIT_S)


@dataclass(frozen=True, slots=True, kw_only=True)
class EventPage:
    """Events in their order.

    Attributes:
        events: CloudEvents, the oldest first. An empty list is not the end of the
            stream: ask again with `next`.
        next: The cursor for `after` of the next request.
    """

    events: tuple[CloudEvent, ...]
    next: str


class EventList(RestView):
    """The events."""

    @endpoint(Role.VIEWER, takes=[EventsForm, "kind"], answers=EventPage)
    def get(self, request: HttpRequest) -> EventPage | HttpResponseBase:
        """List events that you may see, in their order.

        With `Accept: text/event-stream`, the answer is a stream of server-sent events,
        whose ids are cursors. A cursor that is no longer valid is answered with 410;
        `begin` is the cursor to continue with.
        """
        asked = cleaned(EventsForm(request.GET))
        user, wanted = signed_in(request), wanted_events(request, asked["table"])
        limit = asked["limit"] or DEFAULT_LIMIT
        reader = EventReader(user=user, wanted=wanted, limit=limit)
        if STREAM in request.headers.get("Accept", ""):
            after = request.headers.get("Last-Event-ID") or asked["after"]
            return streamed(request, reader, after)
        found = reader.wait(asked["after"], asked["wait_s"] or 0)
        return EventPage(events=tuple(one.event for one in found.seen), next=found.next)


def wanted_events(request: HttpRequest, table: str) -> EventFilter:
    """Return the filter of a request.

    Raises:
        QueryError: If it names an unknown kind.
        PageError: If it names a table that the user cannot see.
    """
    kinds = texts_of(request.GET, "kind")
    known = event_kinds()
    if not set(kinds) <= set(known):
        raise QueryError(part="kind", expected=f"one of {', '.join(sorted(known))}")
    if not table:
        return EventFilter(kinds=kinds)
    name = parse_table_name(table)
    found = get_table(signed_in(request), name.namespace, name.name)
    return EventFilter(kinds=kinds, table_id=found.id)


def streamed(request: HttpRequest, reader: EventReader, after: str) -> HttpResponseBase:
    """Answer with a stream that the web server holds.

    A server that holds no connections sends what there is; the client connects again.
    """
    found = reader.read(after)  # an invalid cursor is answered here
    if request.META.get(HOLDS):
        key = key_of(request)
        caller = FeedCaller(
            user_id=reader.user.id,
            key_id=None if key is None else key.id,
            session_key=None if key is not None else request.session.session_key,
            ends_at=None if key is not None else ends_at(request.session),
        )
        feed = open_feed(caller, reader.wanted, found.start)
        if feed is not None:
            return EventStream(feed)
    response = HttpResponse(first_line() + feed_lines(found, {}), content_type=STREAM)
    response["Cache-Control"] = "no-store"
    return response
