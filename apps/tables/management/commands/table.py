"""`deltaweb table ...`: the catalogue, and tables read straight from their logs."""

from apps.pages.command import VerbsCommand


class Command(VerbsCommand):
    """Register, list and read tables; `--json` answers with one JSON document."""

    help = "Tables: the catalogue, what their logs say, and their upkeep."
    verbs = "apps.tables.management.verbs"
