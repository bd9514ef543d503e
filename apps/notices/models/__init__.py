"""The models of events."""

from apps.notices.models.events import Event as Event
from apps.notices.models.events import EventSequence as EventSequence
