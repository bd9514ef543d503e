"""`deltaweb storage ...`: how object stores are reached; their options stay secret."""

from apps.pages.changes.command import ChangesCommand
from apps.pages.command import Output, subcommand
from apps.tables.management import text_output
from apps.tables.storage.changes import all_storages
from deltaweb.environment.command_lines import COMMANDS


class Command(ChangesCommand):
    """Values go in and never come out: lists have the names of options alone."""

    noun = "storage"
    names_of = {
        "storage-not-found": lambda: [one.name for one in all_storages().storages]
    }
    help = COMMANDS["storage"]

    @subcommand("list", "list the storages, without values")
    def list_storages(self) -> Output:
        storages = all_storages().storages
        rows = [(one.name, one.prefix, ", ".join(one.options)) for one in storages]
        lines = text_output.aligned(("NAME", "PREFIX", "OPTIONS"), rows)
        none = ["No storages yet: storage add NAME --prefix URL --option KEY=VALUE"]
        return Output(storages, lines=lines if rows else none)
