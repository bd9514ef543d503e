"""`deltaweb recipient ...`: who reads what is shared."""

from datetime import datetime
from functools import partial
from pathlib import Path
from typing import Any

from apps.pages.actions import command_stamp
from apps.pages.changes.command import ChangesCommand
from apps.pages.changes.parameters import add_parameters, given
from apps.pages.command import Output, argument, subcommand
from apps.sharing.issuing import credentials
from apps.sharing.issuing.lifetimes import parse_lifetime, parse_span
from apps.sharing.issuing.token_rows import token_row
from apps.sharing.issuing.tokens import Credentials
from apps.sharing.management import arguments, sharing_output
from apps.sharing.management.recipient_looks import NAME, RecipientLooks
from apps.sharing.models import Recipient, RecipientToken, Share
from apps.sharing.names import find_recipient, find_share
from apps.sharing.recipients import services as recipients
from apps.sharing.recipients.services import NewRecipient
from apps.tables.management.text_output import time_text


def issued(made: Credentials, profile: str | None, *, now: datetime) -> Output:
    """Answer with the link of a new token, or with the file of its profile."""
    token = made.token
    token.refresh_from_db()
    path = None if profile is None else Path(profile).expanduser()
    data = {
        **sharing_output.recipient_json(token.recipient, now=now),
        "token": token_row(token, now=now),
        "activation_url": made.link or None,
        "activation_expires_at": made.link_expires_at,
        "profile": None if path is None else str(path.resolve()),
    }
    if token.kind in RecipientToken.OPEN_KINDS:
        data["profile_document"] = arguments.open_profile(token)
    recipient, ends = token.recipient.name, time_text(token.ends_at)
    if path is not None:
        text = f"Wrote the profile of {recipient} to {path}. The token ends {ends}."
        return Output(data, text)
    if not made.link:
        return Output(data, *arguments.client_lines(token))
    note = (
        f"The link works once, until {time_text(made.link_expires_at)}. Send it to "
        f"{recipient}; the token ends {ends}."
    )
    return Output(data, made.link, ["", note])


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

    # === Recipients ===

    @subcommand(
        "create",
        "make a recipient and its first token",
        partial(add_parameters, kind=NewRecipient),
        arguments.add_token_options,
    )
    def create(
        self,
        *,
        expires: str,
        profile: str | None,
        force: bool,
        **options: Any,  # noqa: ANN401 (as argparse has them)
    ) -> Output:
        """Make a recipient and hand its token over, by a link or as a file."""
        stamp = command_stamp()
        made = recipients.invite(
            NewRecipient(**given(options)),
            lifetime=parse_lifetime(expires, now=stamp.at),
            deliver=arguments.delivery(profile, force=force),
            stamp=stamp,
        )
        return issued(made, profile, now=stamp.at)

    # === Grants ===

    @subcommand("grant", "let a recipient read shares", NAME, *_SHARES)
    def grant(self, *, name: str, shares: list[str], more: list[str]) -> Output:
        recipient = find_recipient(name)
        for share in [find_share(text) for text in arguments.named(shares, more)]:
            recipients.grant(share, recipient, stamp=command_stamp())
        return _grants(recipient)

    @subcommand("ungrant", "revoke shares from a recipient", NAME, *_SHARES)
    def ungrant(self, *, name: str, shares: list[str], more: list[str]) -> Output:
        recipient = find_recipient(name)
        for share in [find_share(text) for text in arguments.named(shares, more)]:
            removed = recipients.ungrant(share, recipient, stamp=command_stamp())
            if not removed:
                self.warn(f"{recipient.name} could not read {share.name} before.")
        return _grants(recipient)

    # === Tokens ===

    @subcommand(
        "add-client",
        "add an OAuth client to a recipient",
        NAME,
        *arguments.PROOF,
        argument(
            "--keep-old",
            metavar="SPAN",
            help="replace other clients of its kind, which stay valid for 24h, 7d or 0",
        ),
        arguments.add_token_options,
    )
    def add_client(
        self,
        *,
        name: str,
        keep_old: str | None,
        expires: str,
        profile: str | None,
        force: bool,
        **options: Any,  # noqa: ANN401 (as argparse has them)
    ) -> Output:
        """Make an OAuth client; the recipient's tokens stay as they are."""
        stamp = command_stamp()
        wanted = ("public_key", "issuer", "audience", "subject", "group")
        proof = arguments.proof_of(**{name: options[name] for name in wanted})
        issue = credentials.issue
        if keep_old is not None:
            kept = parse_span(keep_old, now=stamp.at)
            issue = partial(credentials.rotate, keep_old=kept)
        made = issue(
            find_recipient(name),
            proof=proof,
            lifetime=parse_lifetime(expires, now=stamp.at),
            deliver=arguments.delivery(profile, force=force),
            stamp=stamp,
        )
        return issued(made, profile, now=stamp.at)

    @subcommand(
        "rotate",
        "make a token that replaces the others",
        NAME,
        argument(
            "--keep-old",
            default="24h",
            metavar="SPAN",
            help="how long the others stay valid: 24h (the default), 7d, 0",
        ),
        arguments.add_token_options,
    )
    def rotate(
        self,
        *,
        name: str,
        keep_old: str,
        expires: str,
        profile: str | None,
        force: bool,
    ) -> Output:
        """Replace a recipient's tokens and hand the new one over."""
        stamp = command_stamp()
        lifetime = parse_lifetime(expires, now=stamp.at)
        kept = parse_span(keep_old, now=stamp.at)
        made = credentials.rotate(
            find_recipient(name),
            lifetime=lifetime,
            keep_old=kept,
            deliver=arguments.delivery(profile, force=force),
            stamp=stamp,
        )
        return issued(made, profile, now=stamp.at)


def _grants(recipient: Recipient) -> Output:
    shares = [share.name for share in recipient.shares.all()]
    readable = ", ".join(shares) or "nothing"
    data = {"name": recipient.name, "shares": shares}
    return Output(data, f"{recipient.name} can read {readable}.")
