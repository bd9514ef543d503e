"""Versions of a shared table that are held for a recipient."""

from dataclasses import dataclass
from datetime import datetime

from django.http import HttpRequest

from deltaweb.web.accounts.models import Scope
from deltaweb.web.api.endpoint import RestView, Role, endpoint
from deltaweb.web.pages.actions import stamp_of
from deltaweb.web.sharing.issuing.lifetimes import parse_lifetime
from deltaweb.web.sharing.names import find_recipient, find_share, find_shared_table
from deltaweb.web.sharing.recipients.holds import end_hold, hold_versions


@dataclass(frozen=True, slots=True, kw_only=True)
class NewHold:
    """What is to be held.

    Attributes:
        until: A span such as `30d`, or the last day.
        version: The oldest version that stays; the one that was read last without it.
    """

    until: str
    version: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class HoldResource:
    """A version that stays readable, with all later ones, until a moment."""

    share: str
    table: str
    version: int
    ends_at: datetime


class Hold(RestView):
    """What is held of one table for one recipient."""

    @endpoint(Role.ADMIN, body=NewHold, answers=HoldResource, scope=Scope.SHARE)
    def put(
        self, request: HttpRequest, name: str, share: str, table: str, body: NewHold
    ) -> object:
        """Keep versions of a shared table readable for a recipient, in place of others.

        Vacuums and clean-ups of the log spare them until the hold ends.
        """
        stamp = stamp_of(request)
        hold = hold_versions(
            find_recipient(name),
            find_shared_table(find_share(share), table),
            version=body.version,
            span=parse_lifetime(body.until, now=stamp.at),
            stamp=stamp,
        )
        return HoldResource(
            share=share, table=table, version=hold.version, ends_at=hold.ends_at
        )

    @endpoint(Role.ADMIN, answers={204: None}, scope=Scope.SHARE)
    def delete(self, request: HttpRequest, name: str, share: str, table: str) -> None:
        """Hold versions of a shared table for a recipient no longer."""
        end_hold(
            find_recipient(name),
            find_shared_table(find_share(share), table),
            stamp=stamp_of(request),
        )
