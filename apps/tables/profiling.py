"""What Spark is asked for when a column is profiled: facts of the table, no secrets."""

from typing import Any

from django.conf import settings

from apps.tables.locations import check_allowed
from apps.tables.models import Table
from apps.tables.opening import roots_of_server
from apps.tables.storage_connections import options_for


def profile_facts(table: Table, parameters: dict[str, Any]) -> dict[str, Any]:
    """Return the fields of a `deltaweb.spark.column_reader.ProfileRequest`.

    Args:
        table: The table.
        parameters: `version` and `column` (names from the top).

    Raises:
        DeltaError: If the table's location is no longer allowed, or the options of
            its storage cannot be opened.
    """
    check_allowed(table.location, roots=roots_of_server())
    version = parameters["version"]
    commit = table.commits.filter(version=version).first()
    num_files = table.num_files if version == table.version else None
    if num_files is None and commit is not None:
        num_files = commit.num_files
    return {
        "location": table.location,
        "version": version,
        "column": tuple(parameters["column"]),
        "num_files": num_files if num_files is not None else table.num_files,
        "storage_options": options_for(table.location),
        "allowed_roots": tuple(settings.ALLOWED_ROOTS or ()),
    }
