"""`deltaweb table optimize`: pack small files, or cluster rows by columns."""

from collections.abc import Mapping
from typing import Any

from django.core.management.base import CommandError

from deltaweb.web.tables.management.operation_verb import OperationVerb
from deltaweb.web.tables.operations.optimize.operation import OPTIMIZE, Optimize


class Verb(OperationVerb[Optimize]):
    """Pack small files, or cluster rows by columns; the rows stay the same."""

    operation = OPTIMIZE

    def read(self, options: Mapping[str, Any]) -> Optimize:
        """Take one of two ways: files are written, or texts of the log."""
        asked = super().read(options)
        if asked.respell and (asked.cluster_by or asked.target_bytes is not None):
            message = "--respell compacts nothing: leave the other options out."
            raise CommandError(message)
        return asked
