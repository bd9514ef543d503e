"""`deltaweb table ...`: the catalogue, and tables read straight from their logs."""

from deltaweb.web.pages.command import VerbsCommand


class Command(VerbsCommand):
    """Register, list and read tables; `--json` answers with one JSON document."""

    help = "Tables: the catalogue, what their logs say, and their upkeep."
    verbs = "deltaweb.web.tables.management.verbs"
