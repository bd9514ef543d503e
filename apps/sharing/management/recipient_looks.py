"""What `deltaweb recipient` shows, and changes nothing of: lists, use, connections."""

import sys
from pathlib import Path
from typing import Final

from django.core.management.base import CommandError
from django.utils import timezone

from apps.pages.actions import command_stamp, person_at_terminal
from apps.pages.command import (
    Output,
    SubcommandsCommand,
    argument,
    flag,
    subcommand,
)
from apps.pages.page_json import json_with
from apps.sharing.activity.ledger import ledger_of
from apps.sharing.activity.usage import calls
from apps.sharing.activity.use_resource import use_resource
from apps.sharing.management import sharing_output
from apps.sharing.models import Recipient
from apps.sharing.names import find_recipient
from apps.sharing.recipients.doctor.doctor import diagnose, examine
from apps.sharing.recipients.rehearsals.certificates import keep
from apps.sharing.recipients.rehearsals.rehearsal import rehearse
from apps.sharing.recipients.reminders import reminders, without_contact
from apps.sharing.recipients.seen import see_as, stand_in
from apps.sharing.recipients.telling import send_by_mail
from apps.tables.management.text_output import listed

NAME: Final = argument("name")


class RecipientLooks(SubcommandsCommand):
    """Subcommands that look at a recipient, each one call into what its page uses."""

    @subcommand(
        "reminders",
        "list reminders: expiring tokens, changed schemas, limits",
        flag("--mail", "also mail them to the contacts"),
    )
    def reminders(self, *, mail: bool) -> Output:
        now = timezone.now()
        found = reminders(now)
        if mail:
            send_by_mail(found, now=now)
            for name in without_contact(found):
                self.warn(f"{name} has no contact.")
        if not found:
            return Output([], "There are no reminders.")
        return Output(found, lines=[one.line for one in found])

    @subcommand("list", "list the recipients")
    def list_recipients(self) -> Output:
        everybody = Recipient.objects.all()
        found = list(sharing_output.with_tokens(everybody, now=timezone.now()))
        if not found:
            return Output([], "No recipients yet: recipient create NAME --share SHARE")
        return Output(
            [json_with(recipient, tokens=tokens) for recipient, tokens in found],
            lines=listed(found, sharing_output.RECIPIENT_COLUMNS),
        )

    @subcommand("show", "show a recipient: shares and tokens", NAME)
    def show(self, *, name: str) -> Output:
        found, now = find_recipient(name), timezone.now()
        one = Recipient.objects.filter(id=found.id)
        ((recipient, tokens_of_it),) = sharing_output.with_tokens(one, now=now)
        use = use_resource(calls(recipient_id=found.id), now=now)
        return Output(
            json_with(recipient, tokens=tokens_of_it, use=use),
            sharing_output.recipient_text(recipient, use),
            sharing_output.token_lines(tokens_of_it),
        )

    @subcommand(
        "see",
        "show the answers that a recipient gets now, request by request",
        NAME,
        argument("--share", help="the share to show; default: the first"),
        argument("--page-token", default="", help="token of the next page of tables"),
    )
    def see(self, *, name: str, share: str | None, page_token: str) -> Output:
        """Show what a recipient lists and gets, with the answers of the server."""
        signing = stand_in(find_recipient(name), now=timezone.now())
        seen = see_as(signing, share=share, page_token=page_token)
        for text in sharing_output.seen_warnings(seen):
            self.warn(text)
        return Output(seen, lines=listed(seen.all_answers, sharing_output.SEEN_COLUMNS))

    @subcommand("usage", "show how much a recipient has read, by month", NAME)
    def usage(self, *, name: str) -> Output:
        ledger = ledger_of(find_recipient(name), now=timezone.now())
        if not ledger.entries:
            months = len(ledger.months)
            return Output(
                ledger, (f"{name} has read nothing in the last {months} months.")
            )
        return Output(ledger, lines=sharing_output.usage_lines(ledger))

    @subcommand(
        "doctor",
        "examine the connection of a recipient, or explain an error of its client",
        NAME,
        argument(
            "--error",
            metavar="FILE",
            help="file with the error of the client, or - for stdin; it is not stored",
        ),
    )
    def doctor(self, *, name: str, error: str | None) -> Output:
        """Go through the steps to a recipient's rows, or read its client's error."""
        recipient = find_recipient(name)
        if error is None:
            held = examine(recipient, actor=person_at_terminal())
            lines = sharing_output.finding_lines(held.findings)
            return Output(held, lines=lines)
        text = sys.stdin.read() if error == "-" else _text_of(Path(error))
        found = diagnose(recipient, text, now=timezone.now())
        if not found.causes:
            self.warn("deltaweb does not know this error. Examine the connection.")
        return Output(found, lines=sharing_output.diagnosis_lines(found))

    @subcommand(
        "rehearse",
        ("read every table of a recipient with each client installed here"),
        NAME,
    )
    def rehearse(self, *, name: str) -> Output:
        """Read by every client, with a token of minutes and the same grants."""
        recipient = find_recipient(name)
        held = rehearse(recipient, stamp=command_stamp())
        keep(recipient, held)
        for one in held.untried:
            self.warn(f"{one.table} was not tried as a {one.way}: {one.reason}.")
        if not held.readings:
            return Output(held, f"{recipient.name} has no tables.")
        for client in held.missing:
            self.warn(f"{client} is not installed on this server.")
        lines = listed(held.readings, sharing_output.REHEARSAL_COLUMNS)
        return Output(held, lines=lines)


def _text_of(path: Path) -> str:
    try:
        return path.expanduser().read_text(encoding="utf-8", errors="replace")
    except OSError as error:
        message = f"{path} cannot be read: {error.strerror}."
        raise CommandError(message) from error
