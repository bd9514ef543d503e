"""`deltaweb table list`: the registered tables."""

from deltaweb.web.pages.command import Output, Subcommand
from deltaweb.web.tables.head.shapes import TableResource, table_resource
from deltaweb.web.tables.management import text_output
from deltaweb.web.tables.models import Table


class Verb(Subcommand):
    """List the registered tables."""

    def run(self) -> Output:
        """List every table, whoever may see it."""
        tables = [table_resource(one) for one in Table.objects.defer("summary")]
        if not tables:
            return Output(tables, "No tables yet: table add NAME LOCATION")
        return Output(tables, lines=text_output.listed(tables, COLUMNS))


def _state(table: TableResource) -> str:
    return f"BEHIND: {table.behind}" if table.behind else table.state


COLUMNS: text_output.Columns[TableResource] = {
    "NAME": "name",
    "VERSION": "version",
    "STATE": _state,
    "INDEXED": lambda table: text_output.time_text(table.indexed_at),
    "LOCATION": "location",
}
