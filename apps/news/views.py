"""Where pages wait for news."""

from contextlib import ExitStack

from django.http import HttpRequest, HttpResponse, HttpResponseBase
from django.views.decorators.http import require_GET

from deltaweb.web.news.hub import Subscription, hub
from deltaweb.web.news.stream import HOLDS, EventStream, NewsEvents
from deltaweb.web.news.topics import of_session, of_user, revision

MAX_TOPICS = 32  # of a page
MAX_LENGTH = 80  # of a topic with its revision


@require_GET
def news(request: HttpRequest) -> HttpResponseBase:
    """Tell a page which of its topics have moved on, as they do.

    `?on=job:1f…@5a0c…` names a topic and the revision that the page shows; where that
    is another one by now, it is told at once. 204 says that this server holds no
    connections, or too many, or hears no news itself, or that no session ends them, 404
    that the user may not know of one of the topics: such a page asks by itself.
    """
    session_key = request.session.session_key
    if not session_key or not request.META.get(HOLDS):
        return HttpResponse(status=204)
    asked = [text for text in request.GET.getlist("on") if len(text) <= MAX_LENGTH]
    shown = dict(_split(text) for text in asked[:MAX_TOPICS])
    at, owner = hub(), request.user.pk
    if not shown or not at.has_room_for(owner):
        return HttpResponse(status=204)
    ends = of_user(owner), of_session(session_key)
    one = Subscription(shown, ends=ends, owner=owner)
    with ExitStack() as undo:
        undo.callback(at.remove, one)
        at.add(one)
        # Only now: what happens after these looks is heard.
        if not at.is_live() or not request.session.exists(session_key):
            return HttpResponse(status=204)
        found = {topic: revision(request.user, topic) for topic in shown}
        if None in found.values():
            return HttpResponse(status=404)
        one.tell([topic for topic in shown if found[topic] != shown[topic]])
        undo.pop_all()
    return EventStream(NewsEvents(at, one))


def _split(text: str) -> tuple[str, str]:
    topic, _, shown = text.partition("@")
    return topic, shown
