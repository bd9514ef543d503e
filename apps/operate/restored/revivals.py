"""The things that a restore revives; each app registers its own.

    loading.modules.register("apps.sharing.issuing.revived")

Such a module calls `revivals.register`. It calls `withdrawals.register` for each action
that takes an access away: if the audit record has such an action after the backup, the
backup brings this access back.
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from datetime import datetime
from typing import Final, TypeAlias

from apps.pages.registry import Registry

AuditLine: TypeAlias = dict[str, object]
"""A line of the audit record outside of the database; see `apps.audit.outside`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Revival:
    """Something that a backup brings back.

    Attributes:
        switch: The switch that holds it back; "" if nothing does.
        look: Returns how many there are and what they do, in a sentence, by the moment
            of the restore and the present one.
        revoke: Ends them, by the same moments, and returns how many; None if they
            cannot be ended all at once.
        is_usual: Whether they are revoked if no kind is named.
    """

    name: str
    switch: str = ""
    look: Callable[[datetime, datetime], tuple[int, str]]
    revoke: Callable[[datetime, datetime], int] | None = None
    is_usual: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Withdrawal:
    """An action that takes an access away.

    Attributes:
        action: Its name in the audit record.
        says: Returns what would come back, by a line of the record.
        is_back: Returns whether the access exists again at a moment.
    """

    action: str
    says: Callable[[AuditLine], str]
    is_back: Callable[[AuditLine, datetime], bool]


revivals: Final[Registry[Revival]] = Registry(key=lambda one: one.name)
withdrawals: Final[Registry[Withdrawal]] = Registry(key=lambda one: one.action)


def text_of(line: AuditLine, *keys: str) -> str:
    """Return the first text in a line under one of some keys, or in its detail."""
    detail = line.get("detail")
    places: Iterable[AuditLine] = (line, detail if isinstance(detail, dict) else {})
    found = (one.get(key) for key in keys for one in places)
    return next((one for one in found if isinstance(one, str) and one), "")
