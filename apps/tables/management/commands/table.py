"""`deltaweb table ...`: the catalogue, and tables read straight from their logs."""

from apps.pages.changes.command import ChangesCommand
from apps.pages.command import VerbsCommand
from apps.tables.models import Table
from deltaweb.environment.command_lines import COMMANDS


def _names() -> list[str]:
    return [table.full_name for table in Table.objects.only("namespace", "name")]


class Command(VerbsCommand, ChangesCommand):
    """Register, list and read tables; `--json` answers with one JSON document."""

    help = COMMANDS["table"]
    names_of = {"table-not-registered": _names}
    noun = "table"
    verbs = "apps.tables.management.verbs"
