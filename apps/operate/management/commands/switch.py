"""`deltaweb switch ...`: parts of the server that can be switched off."""

from apps.operate.switches.changes import switch_list
from apps.operate.switches.state import SWITCHES
from apps.pages.changes.command import ChangesCommand
from apps.pages.command import Output, subcommand
from deltaweb.environment.command_lines import COMMANDS


class Command(ChangesCommand):
    """The commands that read switches; the others are changes."""

    noun = "switch"
    names_of = {"switch-not-found": lambda: SWITCHES}
    help = COMMANDS["switch"]

    @subcommand("list", "list the switches")
    def list_switches(self) -> Output:
        found = switch_list()
        lines = [f"{'SWITCH':<14} {'STATE':<5} PEOPLE READ"]
        lines += [
            f"{one.name:<14} {'off':<5} {one.sentence}"
            if one.off
            else f"{one.name:<14} on"
            for one in found.switches
        ]
        return Output(data=found, lines=lines)
