"""Files and log: `checkpoint`, `cleanup`, `optimize`, `restore`, `undo`, `vacuum`."""

from argparse import SUPPRESS, ArgumentParser
from collections.abc import Mapping
from typing import Any

from django.core.management.base import CommandError, CommandParser

from apps.tables.management.arguments import add_version
from apps.tables.management.operation_verb import OperationVerb
from apps.tables.operations.checkpoint.operation import (
    CHECKPOINT,
    WriteCheckpoint,
)
from apps.tables.operations.clean_up.operation import CLEAN_UP, CleanUp
from apps.tables.operations.optimize.operation import OPTIMIZE, Optimize
from apps.tables.operations.restore.operation import RESTORE, Restore
from apps.tables.operations.undo.operation import UNDO, Undo
from apps.tables.operations.vacuum.operation import VACUUM, Vacuum


class CheckpointVerb(OperationVerb[WriteCheckpoint]):
    """Write a checkpoint of a version, the newest by default."""

    operation = CHECKPOINT


class CleanupVerb(OperationVerb[CleanUp]):
    """Delete expired log files."""

    operation = CLEAN_UP


class OptimizeVerb(OperationVerb[Optimize]):
    """Compact small files, or cluster rows by columns; the rows stay the same."""

    operation = OPTIMIZE

    def read(self, options: Mapping[str, Any]) -> Optimize:
        """Take one of two ways: files are written, or texts of the log."""
        asked = super().read(options)
        if asked.respell and (asked.cluster_by or asked.target_bytes is not None):
            message = "--respell compacts nothing: leave the other options out."
            raise CommandError(message)
        return asked


class RestoreVerb(OperationVerb[Restore]):
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


class UndoVerb(OperationVerb[Undo]):
    """Undo the commit that made a version; later commits keep their effect."""

    operation = UNDO


class VacuumVerb(OperationVerb[Vacuum]):
    """Delete files that no version within the retention needs."""

    operation = VACUUM

    def add_parameters(self, parser: ArgumentParser) -> None:
        """Declare the retention, and the option of releases up to 0.3."""
        super().add_parameters(parser)
        parser.add_argument("--execute", action="store_true", help=SUPPRESS)
