"""`deltaweb restored ...`: what is to be decided after a restore."""

from django.utils import timezone

from apps.operate.restored.changes import (
    decision_lines,
    newest_restoration,
    restoration_resource,
)
from apps.pages.changes.command import ChangesCommand
from apps.pages.command import Output, subcommand
from deltaweb.environment.command_lines import COMMANDS


class Command(ChangesCommand):
    """The commands that read a restore; the others are changes."""

    noun = "restored"
    help = COMMANDS["restored"]

    @subcommand("show", "show what is to be decided after the newest restore")
    def show(self) -> Output:
        restoration = newest_restoration()
        found = restoration_resource(restoration, timezone.now())
        text = (
            f"Restored at {restoration.restored_at:%Y-%m-%d %H:%M} UTC: {restoration}."
        )
        return Output(data=found, text=text, lines=decision_lines(found))
