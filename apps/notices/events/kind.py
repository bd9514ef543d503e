"""A kind of event, and the subjects that events are about.

    NEW_VERSION = register(
        EventKind(
            name="table.version",
            words="New version",
            help="Sent for each commit of a table.",
            about="table",
            data=NewVersion,  # a frozen dataclass of JSON values, with a sentence
        )
    )

Each kind is one module of `apps.notices.kinds`. Names never change; a new field of
`data` has a default.
"""

import pkgutil
from collections.abc import Mapping
from dataclasses import dataclass
from importlib import import_module
from threading import RLock
from typing import Final, Protocol

from apps.accounts.models import User
from apps.pages.page_json import from_json

KINDS_FOLDER: Final = "apps.notices.kinds"
TYPE_PREFIX: Final = "deltaweb."


@dataclass(frozen=True, slots=True)
class EventSubject:
    """A table, share, recipient or job that an event is about.

    Attributes:
        kind: `table`, `share`, `recipient`, `job` or another registered kind.
        id: Its key in the database, as text.
        name: Its name at this moment.
    """

    kind: str
    id: str
    name: str


class EventData(Protocol):
    """The payload of an event: a frozen dataclass of JSON values."""

    def sentence(self, subject: str) -> str:
        """Return what happened, in a sentence.

        Args:
            subject: The name of the event's subject.
        """


@dataclass(frozen=True, slots=True, kw_only=True)
class EventKind:
    """Everything that is said of one kind of event.

    Attributes:
        name: Its name in the database and in filters, such as `table.version`.
        words: Its name for people, such as "New version".
        help: When it happens, in a sentence.
        about: The kind of its subject.
        data: The dataclass of its payload.
        role: The role that a person needs at least, besides seeing the subjects.
    """

    name: str
    words: str
    help: str
    about: str
    data: type[EventData]
    role: str = User.Role.VIEWER

    @property
    def type(self) -> str:
        """The `type` of its CloudEvents."""
        return TYPE_PREFIX + self.name

    def read(self, payload: Mapping[str, object]) -> EventData:
        """Return the payload of an event from its JSON."""
        return from_json(self.data, payload)


_kinds: dict[str, EventKind] = {}
_lock: Final = RLock()
_is_loaded = [False]


def register(kind: EventKind) -> EventKind:
    """Add a kind and return it."""
    _kinds[kind.name] = kind
    return kind


def event_kinds() -> Mapping[str, EventKind]:
    """Return every kind by its name."""
    with _lock:
        if not _is_loaded[0]:
            folder = import_module(KINDS_FOLDER)
            for found in pkgutil.iter_modules(folder.__path__, f"{KINDS_FOLDER}."):
                import_module(found.name)
            _is_loaded[0] = True
    return _kinds
