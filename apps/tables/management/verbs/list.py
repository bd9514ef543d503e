"""`deltaweb table list`: the registered tables."""

from deltaweb.web.pages.command import Output, Subcommand
from deltaweb.web.tables.management import catalogue_output, text_output
from deltaweb.web.tables.models import Table


class Verb(Subcommand):
    """List the registered tables."""

    def run(self, **_: object) -> Output:
        """List every table, whoever may see it."""
        tables = list(Table.objects.defer("summary"))
        lines = text_output.aligned(
            ("NAME", "VERSION", "STATE", "INDEXED", "LOCATION"),
            [
                (
                    table.full_name,
                    "" if table.version is None else str(table.version),
                    f"BEHIND: {table.behind}" if table.behind else table.state,
                    text_output.time_text(table.indexed_at),
                    table.location,
                )
                for table in tables
            ],
        )
        shown = lines if tables else ["No tables yet: table add NAME LOCATION"]
        return Output([catalogue_output.table_json(t) for t in tables], lines=shown)
