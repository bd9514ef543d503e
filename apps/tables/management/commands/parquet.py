"""`deltaweb parquet ...`: Parquet files by themselves, of a table or of none."""

from apps.pages.command import VerbsCommand


class Command(VerbsCommand):
    """Inspect Parquet files; `--json` answers with one JSON document."""

    help = "Parquet files: what their footers say, their rows, and their schemas."
    verbs = "apps.tables.management.parquet"
