"""What people change, told to whoever keeps a record of it.

An app that changes something for good reports it here, inside its transaction; the
record's app registers itself when Django is ready, so nobody below it needs to know it.
"""

import os
import pwd
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Final
from uuid import UUID

from django.http import HttpRequest
from django.utils import timezone

from apps.pages.registry import Registry
from apps.pages.request.addresses import client_address


@dataclass(frozen=True, slots=True, kw_only=True)
class Actor:
    """Who did something, and from where.

    `user_id` is None for the command line and for people without an account.

    Attributes:
        is_command: Whether it is somebody at a terminal of the server.
        key: The name of the API key that a request was sent with; "" without one.
        scopes: What that key may be used for; None without one.
    """

    name: str
    user_id: int | None = None
    address: str = ""
    user_agent: str = ""
    is_command: bool = False
    key: str = ""
    scopes: tuple[str, ...] | None = None


MAX_NAME: Final = 100
KEY_SCOPES: Final = "_key_scopes"
"""The attribute of a request with an API key: the name and the scopes of the key."""
REFUSED: Final = 400
"""From this status on, an action is the refusal of one."""
COMMAND_LINE: Final = Actor(name="command line", is_command=True)


def person_at_terminal() -> Actor:
    """Return who calls a command: `command line (ada)`, by the user of the system.

    `SUDO_USER` is preferred, because it names the person who became another user. It
    is a claim of whoever may run the command anyway.
    """
    name = os.environ.get("SUDO_USER", "")
    if not name:
        try:
            name = pwd.getpwuid(os.getuid()).pw_name
        except KeyError:  # a user of a container that has no name
            name = str(os.getuid())
    shown = "".join(one for one in name if one.isprintable())[:MAX_NAME]
    return replace(COMMAND_LINE, name=f"{COMMAND_LINE.name} ({shown})")


@dataclass(frozen=True, slots=True)
class Stamp:
    """Who does something, and when: it goes from the edge down to the record."""

    actor: Actor
    at: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class Action:
    """One change, in words that a filter can find: `share.create`, `user.disable`.

    A refusal has the `status` and `error_code` of its answer. `detail` holds plain
    JSON values and never a secret.
    """

    name: str
    stamp: Stamp
    share: str = ""
    recipient: str = ""
    recipient_id: UUID | None = None
    token_id: UUID | None = None
    token_prefix: str = ""
    table: str = ""
    table_id: UUID | None = None
    detail: Mapping[str, object] = field(default_factory=dict)
    status: int = 200
    error_code: str = ""


@dataclass(frozen=True, slots=True)
class FieldChange:
    """One field of a form, before and after; `name` is that of its action.

    Values are plain JSON, as people read them: a role by its word, not its number.
    """

    name: str
    old: object
    new: object


Recorder = Callable[[Action], None]

recorders: Registry[Recorder] = Registry()
guards: Registry[Callable[[str], None]] = Registry()
"""Each raises an error if no change of this name may be made at the moment."""


def check_allowed(name: str) -> None:
    """Raise the error of a guard if no change of this name may be made now."""
    for guard in guards:
        guard(name)


def report(action: Action) -> None:
    """Record a change; call it in the transaction that makes it.

    A guard may refuse it, which rolls it back. The record of a refusal is written.
    """
    if action.status < REFUSED:
        check_allowed(action.name)
    for recorder in recorders:
        recorder(action)


def report_changes(action: Action, changes: Iterable[FieldChange]) -> bool:
    """Tell of each field that changed by itself, with its old and new value.

    Args:
        action: Who changes what, and when; each field brings its own name and values.
        changes: The fields of the form; those that stay as they are are left out.

    Returns:
        Whether there was any.
    """
    changed = [change for change in changes if change.old != change.new]
    for one in changed:
        detail = {**action.detail, "old": one.old, "new": one.new}
        report(replace(action, name=one.name, detail=detail))
    return bool(changed)


def actor_of(request: HttpRequest) -> Actor:
    """Return who sends a request."""
    user = request.user
    key, scopes = getattr(request, KEY_SCOPES, ("", None))
    return Actor(
        name=user.get_username() or "anonymous",
        user_id=user.pk,
        address=client_address(request),
        user_agent=request.headers.get("User-Agent", "")[:300],
        key=key,
        scopes=scopes,
    )


def stamp_of(request: HttpRequest) -> Stamp:
    """Return who sends a request, and when."""
    return Stamp(actor_of(request), timezone.now())


def command_stamp() -> Stamp:
    """Return the stamp of what a command does now."""
    return Stamp(person_at_terminal(), timezone.now())
