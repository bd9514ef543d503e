"""`deltaweb table restore`: restore an earlier version."""

from collections.abc import Mapping
from typing import Any

from django.core.management.base import CommandError, CommandParser

from deltaweb.web.tables.management.arguments import add_version
from deltaweb.web.tables.management.operation_verb import OperationVerb
from deltaweb.web.tables.operations.restore.operation import RESTORE, Restore


class Verb(OperationVerb[Restore]):
    """Restore an earlier version."""

    operation = RESTORE

    def add_arguments(self, parser: CommandParser) -> None:
        """Declare the table, and its version by number or time."""
        add_version(parser)

    def read(self, options: Mapping[str, Any]) -> Restore:
        """Return which version comes back."""
        version, timestamp = options["at_version"], options["timestamp"]
        if version is None and timestamp is None:
            message = "Give the version to restore: --version or --timestamp."
            raise CommandError(message)
        zone = options["time_zone"]
        return Restore(version=version, timestamp=timestamp, timestamp_zone=zone)
