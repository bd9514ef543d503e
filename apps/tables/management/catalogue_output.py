"""How the `table` commands answer with what the catalogue says."""

from typing import Any

from deltaweb.web.tables.models import Table


def table_json(table: Table) -> dict[str, Any]:
    """Return a registered table as `table list --json` shows it."""
    return {
        "name": table.full_name,
        "location": table.location,
        "version": table.version,
        "state": table.state,
        "behind": table.behind or None,
        "indexed_at": table.indexed_at,
        "description": table.about,
        "restricted": table.restricted,
        "error": table.error or None,
    }
