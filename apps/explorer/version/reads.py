"""What the REST API reads of a table: the pages of the explorer as JSON."""

from typing import Any

from apps.pages.changes.change import VIEWER
from apps.pages.changes.read import Read, reads
from apps.tables.head.finding import OF_TABLE


def table_read(
    route: str,
    view: str,
    page: str,
    shows: type,
    help: str,  # noqa: A002 (as `Read` has it)
    **how: Any,  # noqa: ANN401 (as `Read` has it)
) -> None:
    """Let the REST API answer what a page of a table shows; all else as in `Read`.

    Args:
        route: The end of its path, below the table.
        page: The URL name of the page, without its app.
    """
    reads.register(
        Read(
            route=f"{OF_TABLE}{route}",
            view=view,
            page=f"explorer:{page}",
            shows=shows,
            help=help,
            role=VIEWER,
            **how,
        )
    )
