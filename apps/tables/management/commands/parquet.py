"""`deltaweb parquet ...`: Parquet files by themselves, of a table or of none."""

from deltaweb.web.pages.command import VerbsCommand


class Command(VerbsCommand):
    """Inspect Parquet files; `--json` answers with one JSON document."""

    help = "Parquet files: what their footers say, their rows, and their schemas."
    verbs = "deltaweb.web.tables.management.parquet"
