"""The subjects that can be followed, and what is above tables.

The apps that own them register them in modules that `load_from` names:

    register(
        FollowedSubjects(
            kind="namespace",
            words="namespace",
            icon="folder",
            hears=("table", "job"),
            find=found_namespace,  # (user, name) -> EventSubject, or an error
            named=named_namespaces,  # ids -> {id: (name, address)}
        ),
        parents_of=above_tables,  # table ids -> the subjects above each
    )
"""

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from importlib import import_module
from typing import Final

from apps.accounts.models import User
from apps.notices.errors import SubjectNotFollowableError
from apps.notices.events.kind import EventKind, EventSubject, event_kinds
from apps.pages.registry import Registry

OWNED: Final = "owned"
BELL: Final = "bell"
"""The topic of the number beside the bell."""
ALL_OWNED: Final = "everything I own"


@dataclass(frozen=True, slots=True, kw_only=True)
class FollowedSubjects:
    """One kind of subject that can be followed.

    Attributes:
        words: Its name for people.
        hears: The kinds of subjects of the events that its followers hear of.
        find: Returns the subject of a name if the user may see it, and raises the error
            of an unknown name otherwise.
        named: Returns the present names and pages of ids, without those that are gone.
    """

    kind: str
    words: str
    icon: str
    hears: tuple[str, ...]
    find: Callable[[User, str], EventSubject]
    named: Callable[[Collection[str]], Mapping[str, tuple[str, str]]] = lambda _: {}

    def kinds(self) -> list[EventKind]:
        """Return the kinds of events that its followers can choose."""
        return [one for one in event_kinds().values() if one.about in self.hears]


_subjects: Final[Registry[FollowedSubjects]] = Registry(key=lambda one: one.kind)

ParentsOfTables = Callable[[Collection[str]], Mapping[str, Sequence[tuple[str, str]]]]
"""Returns the subjects above tables, each as its kind and its id.

A follower of one of them hears of the table. A table that is gone has none.
"""
_parents: Final[Registry[ParentsOfTables]] = Registry()
_to_load: Final[list[str]] = []


def load_from(module: str) -> None:
    """Say which module calls `register`; it is loaded when something is followed."""
    _to_load.append(module)


def register(
    *subjects: FollowedSubjects, parents_of: ParentsOfTables | None = None
) -> None:
    """Add kinds of subjects, and what is above tables."""
    _subjects.register(*subjects)
    if parents_of is not None:
        _parents.register(parents_of)


def followed_subjects() -> list[FollowedSubjects]:
    """Return every kind of subject that can be followed."""
    _load()
    return list(_subjects)


def find_owned(user: User, _: str = "") -> EventSubject:
    """Return everything that a user owns, as a subject."""
    return EventSubject(OWNED, str(user.pk), ALL_OWNED)


register(
    FollowedSubjects(
        kind=OWNED,
        words="tables",
        icon="user",
        hears=("table", "job"),
        find=find_owned,
    )
)


def subjects_of(kind: str) -> FollowedSubjects:
    """Return a kind of subjects.

    Raises:
        SubjectNotFollowableError: If there is none of that name.
    """
    for one in followed_subjects():
        if one.kind == kind:
            return one
    known = ", ".join(one.kind for one in followed_subjects())
    raise SubjectNotFollowableError(kind=kind, known=known)


def parents(table_ids: Collection[str]) -> dict[str, set[tuple[str, str]]]:
    """Return the subjects above tables, by the ids of the tables."""
    found: dict[str, set[tuple[str, str]]] = {one: set() for one in table_ids}
    _load()
    for provider in _parents:
        for table_id, above in provider(table_ids).items():
            found[table_id].update(above)
    return found


def _load() -> None:
    while _to_load:
        import_module(_to_load.pop())
