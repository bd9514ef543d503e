"""The shares that a recipient may read, as a command gives and takes them."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from django.core.management.base import CommandError

from apps.pages.actions import Stamp
from apps.pages.changes.change import Change, Verb
from apps.pages.changes.parameters import parameter
from apps.pages.page_json import OnPage
from apps.sharing.models import Recipient, Share
from apps.sharing.names import find_share
from apps.sharing.recipients.changes.settings import RECIPIENT
from apps.sharing.recipients.services import grant, ungrant
from deltaweb.environment.command_lines import BAD_USAGE


@dataclass(frozen=True, slots=True, kw_only=True)
class SharesOfRecipient:
    """Shares, by their names.

    Attributes:
        shares: Those that stand by their place.
        more: Those of an option.
    """

    shares: list[str] = parameter(list, nargs="*", metavar="share")
    more: list[str] = parameter(list, "--share", action="append", metavar="SHARE")

    def find(self) -> list[Share]:
        """Return the shares."""
        named = [*self.shares, *self.more]
        if not named:
            message = "Name a share."
            raise CommandError(message, returncode=BAD_USAGE)
        return [find_share(name) for name in named]


@dataclass(frozen=True, slots=True, kw_only=True)
class Readable:
    """A recipient and the names of the shares that it may read.

    Attributes:
        not_read: Shares that were to be taken, and that it could not read before.
    """

    name: str
    shares: list[str]
    not_read: OnPage[list[str]]


def add_grants(recipient: Recipient, new: SharesOfRecipient, stamp: Stamp) -> Readable:
    """Let a recipient read shares."""
    for share in new.find():
        grant(share, recipient, stamp=stamp)
    return _readable(recipient, [])


def remove_grants(
    recipient: Recipient, old: SharesOfRecipient, stamp: Stamp
) -> Readable:
    """Take shares from a recipient."""
    kept = [one for one in old.find() if not ungrant(one, recipient, stamp=stamp)]
    return _readable(recipient, [share.name for share in kept])


def _readable(recipient: Recipient, not_read: list[str]) -> Readable:
    shares = [share.name for share in recipient.shares.all()]
    return Readable(name=recipient.name, shares=shares, not_read=not_read)


def _said(one: Readable) -> str:
    return f"{one.name} can read {', '.join(one.shares) or 'nothing'}."


def _not_read(_: Recipient, one: Readable) -> Iterator[str]:
    for share in one.not_read:
        yield f"{one.name} could not read {share} before."


GRANT: Final = Change(
    of=RECIPIENT,
    name="grant",
    help="Let a recipient read shares.",
    parameters=SharesOfRecipient,
    do=add_grants,
    result=Readable,
    says=_said,
    record=("grant.add",),
    verb=Verb(),
)
UNGRANT: Final = Change(
    of=RECIPIENT,
    name="ungrant",
    help="Revoke shares from a recipient.",
    parameters=SharesOfRecipient,
    do=remove_grants,
    result=Readable,
    says=_said,
    record=("grant.remove",),
    verb=Verb(warns=_not_read),
)
