"""The outbox of events: writing them, numbering them, and reading them."""

from apps.notices.events.emitting import Happening as Happening
from apps.notices.events.emitting import emit as emit
from apps.notices.events.emitting import emit_all as emit_all
from apps.notices.events.kind import EventSubject as EventSubject
