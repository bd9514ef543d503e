"""Arguments that the commands of recipients have in common, and what they mean."""

from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Final

from django.core.management.base import CommandError, CommandParser

from deltaweb.web.pages.command import argument, flag
from deltaweb.web.sharing.issuing.credentials import Deliver
from deltaweb.web.sharing.issuing.lifetimes import default_lifetime, max_lifetime
from deltaweb.web.sharing.management import profile_file
from deltaweb.web.sharing.models import Recipient, RecipientToken

LIMITS: Final = tuple(
    argument(
        f"--{which}",
        metavar="SIZE",
        help=f"from where on reads are {text}, as 3.5TiB; '' for nowhere",
    )
    for which, text in (("soft", "said"), ("hard", "refused"))
)
HOLD: Final = (
    argument("share"),
    argument("table", metavar="schema.table"),
    argument(
        "--until", default="30d", metavar="SPAN", help="30d (the default) or a date"
    ),
    argument("--version", type=int, metavar="N", help="default: what it read last"),
    flag("--end", "hold nothing any longer"),
)


def add_token_options(parser: CommandParser) -> None:
    """Declare how long a new token lives, and where its profile goes."""
    days = default_lifetime().days
    parser.add_argument(
        "--expires",
        default=f"{days}d",
        metavar="SPAN",
        help=f"{days}d (the default), 24h or a date; {max_lifetime().days}d at most",
    )
    parser.add_argument(
        "--profile",
        metavar="FILE",
        help="write the profile file here, readable only by its owner, instead of a "
        "link",
    )
    parser.add_argument(
        "--force", action="store_true", help="replace FILE when it exists"
    )


def named(shares: Sequence[str], more: Sequence[str]) -> list[str]:
    """Return the shares that are named, by position or by option."""
    named = [*shares, *more]
    if not named:
        message = "Name a share."
        raise CommandError(message, returncode=2)
    return named


def token_of(recipient: Recipient, prefix: str) -> RecipientToken:
    """Return the token of a recipient that begins so."""
    token = recipient.tokens.filter(prefix=prefix.strip().rstrip(".…")).first()
    if token is None:
        message = (
            f"{recipient.name} has no token {prefix[:40]!r}. "
            f"'recipient show {recipient.name}' lists its tokens."
        )
        raise CommandError(message)
    return token


def delivery(profile: str | None, *, force: bool) -> Deliver | None:
    """Return what writes the profile to a file; None where a link is asked for."""
    if profile is None:
        return None
    path = Path(profile).expanduser()
    profile_file.check_free(path, force=force)
    return partial(profile_file.write_profile, path=path, force=force)
