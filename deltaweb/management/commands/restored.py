"""`deltaweb restored ...`: what is to be decided after a restore."""

from django.utils import timezone

from apps.pages.actions import COMMAND_LINE, Stamp
from apps.pages.command import YES, Output, SubcommandsCommand, subcommand
from deltaweb.environment.command_lines import COMMANDS
from deltaweb.management.backups.restored import (
    decision_lines,
    newest_restoration,
    remaining,
    revoke_earlier,
)


class Command(SubcommandsCommand):
    """Decisions of an administrator after a restore."""

    help = COMMANDS["restored"]

    @subcommand("show", "show what is to be decided after the newest restore")
    def show(self) -> Output:
        restoration = newest_restoration()
        found = remaining(restoration, timezone.now())
        text = f"Restored at {restoration.restored_at.isoformat()}: {restoration}."
        return Output(data=found, text=text, lines=decision_lines(found))

    @subcommand("revoke", "revoke all tokens and keys made before the restore", YES)
    def revoke(self, *, yes: bool) -> Output:
        restoration = newest_restoration()
        found = remaining(restoration, timezone.now())
        question = (
            f"Revoke {found.tokens} tokens of recipients and {found.api_keys} API keys?"
        )
        self.confirm(question, yes=yes)
        done = revoke_earlier(restoration, stamp=Stamp(COMMAND_LINE, timezone.now()))
        said = f"Revoked {done.tokens} tokens of recipients, {done.api_keys} API keys."
        return Output(data=done, text=said)
