"""`deltaweb table vacuum`: delete files that no version within the retention needs."""

from argparse import SUPPRESS, ArgumentParser

from deltaweb.web.tables.management.operation_verb import OperationVerb
from deltaweb.web.tables.operations.vacuum.operation import VACUUM, Vacuum


class Verb(OperationVerb[Vacuum]):
    """Delete files that no version within the retention needs."""

    operation = VACUUM

    def add_parameters(self, parser: ArgumentParser) -> None:
        """Declare the retention, and the option of releases up to 0.3."""
        super().add_parameters(parser)
        parser.add_argument("--execute", action="store_true", help=SUPPRESS)
