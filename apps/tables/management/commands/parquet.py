"""`deltaweb parquet ...`: Parquet files by themselves, of a table or of none."""

from apps.pages.command import VerbsCommand
from deltaweb.environment.command_lines import COMMANDS


class Command(VerbsCommand):
    """Inspect Parquet files; `--json` answers with one JSON document."""

    help = COMMANDS["parquet"]
    verbs = "apps.tables.management.parquet"
