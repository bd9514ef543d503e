"""The outbox of events: writing them, numbering them, and reading them."""

from typing import TYPE_CHECKING

from deltaweb.lazy import names_on_demand

if TYPE_CHECKING:  # most commands write no event
    from apps.notices.events.emitting import Happening as Happening
    from apps.notices.events.emitting import emit as emit
    from apps.notices.events.emitting import emit_all as emit_all
    from apps.notices.events.kind import EventSubject as EventSubject
else:
    _EMITTING = "apps.notices.events.emitting"
    __getattr__ = names_on_demand(
        __name__,
        {
            "EventSubject": "apps.notices.events.kind",
            **dict.fromkeys(("Happening", "emit", "emit_all"), _EMITTING),
        },
    )
