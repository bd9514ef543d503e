"""The events that were reported, as their readers see them."""

from apps.notices.events.publisher import publish_events
from apps.notices.models import Event


def reported(kind: str = "") -> list[dict[str, object]]:
    """Return the payloads of events in their order; of one kind, or of all."""
    publish_events()
    events = Event.objects.order_by("number")
    return [event.payload for event in (events.filter(kind=kind) if kind else events)]


def sentences() -> list[str]:
    """Return the sentences of all events in their order."""
    publish_events()
    return [event.sentence for event in Event.objects.order_by("number")]
