"""`deltaweb recipient ...`: who reads what is shared."""

from collections.abc import Sequence

from django.core.management.base import CommandError

from apps.pages.actions import command_stamp
from apps.pages.changes.command import ChangesCommand
from apps.pages.command import Output, argument, subcommand
from apps.sharing.management.recipient_looks import NAME, RecipientLooks
from apps.sharing.models import Recipient, Share
from apps.sharing.names import find_recipient, find_share
from apps.sharing.recipients import services as recipients

_SHARES = (
    argument("shares", nargs="*", metavar="share"),
    argument("--share", action="append", default=[], dest="more", metavar="SHARE"),
)


class Command(RecipientLooks, ChangesCommand):
    """Each subcommand is one call into the services that the pages use, too."""

    noun = "recipient"

    names_of = {
        "recipient-not-found": lambda: Recipient.objects.values_list("name", flat=True),
        "share-not-found": lambda: Share.objects.values_list("name", flat=True),
    }
    help = (
        "Recipients: create, list, show, see, usage, doctor, rehearse, limit, hold, "
        "reminders, grant, ungrant, add-client, link, rotate, revoke, delete."
    )

    # === Grants ===

    @subcommand("grant", "let a recipient read shares", NAME, *_SHARES)
    def grant(self, *, name: str, shares: list[str], more: list[str]) -> Output:
        recipient = find_recipient(name)
        for share in [find_share(text) for text in _named(shares, more)]:
            recipients.grant(share, recipient, stamp=command_stamp())
        return _grants(recipient)

    @subcommand("ungrant", "revoke shares from a recipient", NAME, *_SHARES)
    def ungrant(self, *, name: str, shares: list[str], more: list[str]) -> Output:
        recipient = find_recipient(name)
        for share in [find_share(text) for text in _named(shares, more)]:
            removed = recipients.ungrant(share, recipient, stamp=command_stamp())
            if not removed:
                self.warn(f"{recipient.name} could not read {share.name} before.")
        return _grants(recipient)


def _grants(recipient: Recipient) -> Output:
    shares = [share.name for share in recipient.shares.all()]
    readable = ", ".join(shares) or "nothing"
    data = {"name": recipient.name, "shares": shares}
    return Output(data, f"{recipient.name} can read {readable}.")


def _named(shares: Sequence[str], more: Sequence[str]) -> list[str]:
    """Return the shares that are named, by position or by option."""
    named = [*shares, *more]
    if not named:
        message = "Name a share."
        raise CommandError(message, returncode=2)
    return named
