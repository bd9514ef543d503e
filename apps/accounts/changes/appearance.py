"""What users change of their own pages: the theme and the time zone."""

from dataclasses import dataclass, replace
from typing import Final, Literal

from django.shortcuts import resolve_url

from apps.accounts import selectors, services
from apps.accounts.changes.keys import ONESELF
from apps.accounts.models import User
from apps.accounts.selectors import AccountResource
from apps.pages.actions import Stamp
from apps.pages.changes.change import VIEWER, Call, Change, Page
from apps.pages.changes.parameters import Line, parameter
from apps.pages.changes.read import Read, reads
from apps.pages.request.changes import UNCHANGED, Unchanged


@dataclass(frozen=True, slots=True, kw_only=True)
class Appearance:
    """How pages look; a value that is left out stays.

    Attributes:
        theme: `light`, `dark`, or `system` for the setting of the browser.
        time_zone: The time zone of times on pages, such as `Europe/Berlin`.
    """

    theme: Literal["system", "light", "dark"] | Unchanged = parameter(
        UNCHANGED, None, line=Line(label="Theme", is_needed=True)
    )
    time_zone: str | Unchanged = parameter(
        UNCHANGED,
        None,
        line=Line(label="Time zone", most=64, is_needed=True, codes=("user-invalid",)),
    )


def set_appearance(user: User, new: Appearance, stamp: Stamp) -> AccountResource:
    """Save how pages look for a user."""
    changed = services.set_appearance(
        user=user, theme=new.theme, time_zone=new.time_zone, stamp=stamp
    )
    return selectors.account_resource(changed, now=stamp.at)


APPEARANCE: Final = Change(
    of=replace(ONESELF, scope="write"),
    name="appearance",
    help="Change the theme and the time zone of your pages.",
    parameters=Appearance,
    do=set_appearance,
    result=AccountResource,
    says=lambda _: "Your appearance is saved.",
    record=("user.set_theme", "user.set_time_zone"),
    call=Call("PATCH", "me", view="Me"),
    page=Page(
        "me/appearance",
        back=lambda _: resolve_url("accounts:me"),
        name="set-appearance",
    ),
)
reads.register(
    Read(
        route="me",
        view="Me",
        page="accounts:me",
        shows=AccountResource,
        help="Get your account and the scopes of the key.",
        role=VIEWER,
    )
)
