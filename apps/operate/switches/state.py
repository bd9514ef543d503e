"""The state of the switches, which each process reads every few seconds.

    require_on(SHARING)             # raises SwitchedOffError
    sentence = off_sentence(JOBS)   # None while jobs are on

A read costs no query: a process asks the database every `READ_EVERY_S` seconds, so a
change is effective everywhere within that time. The process that makes a change sees it
at once.
"""

import threading
import time
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Final

from django.db import DatabaseError, transaction
from django.db.models import Subquery

from apps.operate.errors import SwitchedOffError, SwitchNotFoundError
from apps.operate.models import Restoration, Switch
from apps.pages.actions import Action, Stamp, report

READ_EVERY_S: Final = 2.0
REVIVED: Final = (
    "This server was restored from a backup. Keys that were made before work again"
    " when sign-in is switched on."
)


@dataclass(frozen=True, slots=True, kw_only=True)
class SwitchKind:
    """A part of the server that can be switched off.

    Attributes:
        label: Its name for people.
        stops: What does not work while it is off, and what still works.
        sentence: What people read while it is off, if the administrator wrote nothing.
        is_for_people: Whether pages show the sentence to people who are signed in.
    """

    name: str
    label: str
    stops: str
    sentence: str
    is_for_people: bool = True


SIGN_IN: Final = "sign-in"
SHARING: Final = "sharing"
JOBS: Final = "jobs"
WRITES: Final = "writes"
NOTIFICATIONS: Final = "notifications"
OFF_AFTER_RESTORE: Final = (SIGN_IN, SHARING, NOTIFICATIONS)
"""The parts that a restore switches off. Once all are on, everything is decided."""
SWITCHES: Final[Mapping[str, SwitchKind]] = {
    one.name: one
    for one in (
        SwitchKind(
            name=SIGN_IN,
            label="Sign-in",
            stops="Only administrators can sign in. People who are signed in stay so, "
            "and API keys work.",
            sentence="Signing in is switched off at the moment.",
            is_for_people=False,
        ),
        SwitchKind(
            name=SHARING,
            label="Sharing",
            stops="Recipients read nothing: the sharing protocol, Iceberg, pages of "
            "recipients and activation links answer 503. A URL of an object store that "
            "was issued before works until it ends.",
            sentence="Sharing is switched off at the moment.",
        ),
        SwitchKind(
            name=JOBS,
            label="Jobs",
            stops="No job starts. Jobs that run finish, and new ones wait.",
            sentence="Jobs are switched off at the moment: new ones wait.",
        ),
        SwitchKind(
            name=WRITES,
            label="Writes",
            stops="Nothing changes tables, the catalog, shares or accounts. Pages, "
            "sign-in and sharing work, and switches can be changed.",
            sentence="Changes are switched off at the moment: nothing can be changed.",
        ),
        SwitchKind(
            name=NOTIFICATIONS,
            label="Notifications",
            stops="No mail and no webhook is sent. What happens meanwhile is sent "
            "afterwards.",
            sentence="Notifications are switched off at the moment, and sent later.",
        ),
    )
}


class SwitchStates:
    """What is off, as this process last read it."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._lock = threading.Lock()
        self._off: Mapping[str, str] = {}
        self._restored_at: datetime | None = None
        self._good_until_s: float | None = None
        self.read_every_s = READ_EVERY_S

    def off(self) -> Mapping[str, str]:
        """Return the sentence of each switch that is off.

        While the database does not answer, what was read last counts.

        Raises:
            DatabaseError: If nothing was read yet.
        """
        now_s = self._clock()
        if self._good_until_s is not None and now_s < self._good_until_s:
            return self._off
        with self._lock:
            if self._good_until_s is None or now_s >= self._good_until_s:
                try:
                    self._off, self._restored_at = _read()
                except DatabaseError:
                    if self._good_until_s is None:
                        raise
                self._good_until_s = now_s + self.read_every_s
        return self._off

    def restored_at(self) -> datetime | None:
        """Return the time of the restore with open decisions; None without one."""
        self.off()
        return self._restored_at

    def forget(self) -> None:
        """Read again at the next question."""
        with self._lock:
            self._good_until_s = None

    def assume_all_on(self) -> None:
        """Count every switch as on until something is changed in this process."""
        with self._lock:
            self._off, self._restored_at = {}, None
            self._good_until_s = float("inf")


states: Final = SwitchStates()


def _read() -> tuple[Mapping[str, str], datetime | None]:
    """Return the sentences of what is off, and the restore that is undecided."""
    undecided = Restoration.objects.filter(decided_at=None).values("restored_at")
    rows = list(
        Switch.objects.filter(is_off=True)
        .annotate(restored_at=Subquery(undecided[:1]))
        .values_list("name", "sentence", "restored_at")
    )
    off = {
        name: sentence or SWITCHES[name].sentence
        for name, sentence, _ in rows
        if name in SWITCHES
    }
    return off, next((restored_at for _, _, restored_at in rows), None)


def find_switch(name: str) -> SwitchKind:
    """Return the switch of a name.

    Raises:
        SwitchNotFoundError: If there is none.
    """
    if name not in SWITCHES:
        raise SwitchNotFoundError(name=name)
    return SWITCHES[name]


def off_sentence(name: str) -> str | None:
    """Return what people read while a switch is off; None while it is on."""
    return states.off().get(name)


def require_on(name: str) -> None:
    """Do nothing while a switch is on.

    Raises:
        SwitchedOffError: While it is off.
    """
    sentence = off_sentence(name)
    if sentence is not None:
        raise SwitchedOffError(switch=name, sentence=sentence)


def off_sentences() -> list[str]:
    """Return what people who are signed in read on every page."""
    found = [
        sentence
        for name, sentence in states.off().items()
        if SWITCHES[name].is_for_people
    ]
    return list(dict.fromkeys(found))


def require_not_revived(made_at: datetime) -> None:
    """Refuse a key that a backup brought back, until sign-in is switched on again.

    Raises:
        SwitchedOffError: If it is refused.
    """
    restored_at = states.restored_at()
    if restored_at is not None and made_at <= restored_at and off_sentence(SIGN_IN):
        raise SwitchedOffError(switch=SIGN_IN, sentence=REVIVED)


@transaction.atomic
def turn(
    names: Iterable[str], *, is_off: bool, sentence: str = "", stamp: Stamp
) -> None:
    """Switch parts of the server off or on, and record it.

    Args:
        names: Some of `SWITCHES`.
        sentence: What people read meanwhile; "" for the usual sentence.
    """
    values = {
        "is_off": is_off,
        "sentence": sentence,
        "changed_at": stamp.at,
        "changed_by": stamp.actor.name,
    }
    action = "switch.off" if is_off else "switch.on"
    for name in names:
        Switch.objects.update_or_create(name=find_switch(name).name, defaults=values)
        detail = {"switch": name, **({"sentence": sentence} if sentence else {})}
        report(Action(name=action, stamp=stamp, detail=detail))
    if not Switch.objects.filter(name__in=OFF_AFTER_RESTORE, is_off=True).exists():
        decide_all(stamp)
    states.forget()
    transaction.on_commit(states.forget)


def decide_all(stamp: Stamp) -> None:
    """Store that an administrator has decided everything after a restore."""
    Restoration.objects.filter(decided_at=None).update(
        decided_at=stamp.at, decided_by=stamp.actor.name
    )
    states.forget()
    transaction.on_commit(states.forget)
