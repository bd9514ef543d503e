"""`deltaweb table merge`: change a table by the rows of files or of another table."""

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from django.core.management.base import CommandError

from deltaweb.web.tables.management.arguments import locate
from deltaweb.web.tables.management.operation_verb import OperationVerb
from deltaweb.web.tables.operations.rows.merge_rows import MERGE_ROWS, MergeRows


class Verb(OperationVerb[MergeRows]):
    """Change a table by the rows of a file or of another table."""

    operation = MERGE_ROWS

    def read(self, options: Mapping[str, Any]) -> MergeRows:
        """Return what is merged; a table is found by its name."""
        asked = super().read(options)
        if not asked.clauses:
            message = "Give --update-all, --insert-all or --delete-where."
            raise CommandError(message)
        if Path(asked.source).is_file():
            return asked
        return replace(asked, source=locate(asked.source)[1])
