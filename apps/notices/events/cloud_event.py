"""Events as CloudEvents, the form in which they leave this server.

Source: CloudEvents specification 1.0.2, "Context Attributes" and "JSON Event Format".
"""

from dataclasses import dataclass
from datetime import UTC

from django.conf import settings

from apps.notices.events.kind import TYPE_PREFIX
from apps.notices.models import Event


@dataclass(frozen=True, slots=True, kw_only=True)
class CloudEvent:
    """An event in the form of CloudEvents 1.0.

    Attributes:
        specversion: Always `1.0`.
        id: Equal ids are the same event.
        source: The public address of this server.
        type: The kind of event, such as `deltaweb.table.version`.
        subject: The kind and the name of its subject, such as `table:sales.orders`.
        time: The time of the event, in ISO 8601.
        datacontenttype: Always `application/json`.
        sentence: What happened, for people.
        data: The payload; its keys depend on the type.
    """

    specversion: str = "1.0"
    id: str
    source: str
    type: str
    subject: str
    time: str
    datacontenttype: str = "application/json"
    sentence: str
    data: dict[str, object]


def cloud_event(event: Event) -> CloudEvent:
    """Return an event as receivers see it: the same bytes each time."""
    return CloudEvent(
        id=str(event.uid),
        source=settings.PUBLIC_URL,
        type=TYPE_PREFIX + event.kind,
        subject=f"{event.subject_kind}:{event.subject_name}",
        time=event.at.astimezone(UTC).isoformat(),
        sentence=event.sentence,
        data=event.payload,
    )
