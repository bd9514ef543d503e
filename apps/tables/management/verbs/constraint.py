"""`deltaweb table constraint`: add or drop a CHECK constraint."""

from argparse import ArgumentParser

from deltaweb.web.pages.command import takes_json, takes_writing_options
from deltaweb.web.tables.management.operation_verb import OperationVerb
from deltaweb.web.tables.operations.definition.change_constraint import (
    CHANGE_CONSTRAINT,
    ChangeConstraint,
)
from deltaweb.web.tables.operations.parameters import add_parameters


class Verb(OperationVerb[ChangeConstraint]):
    """Add or drop a CHECK constraint."""

    operation = CHANGE_CONSTRAINT

    def add_parameters(self, parser: ArgumentParser) -> None:
        """Declare both ways; one that adds has the condition."""
        parts = parser.add_subparsers(dest="way", required=True, metavar="add|drop")
        add = parts.add_parser("add", help="add; existing rows are checked first")
        drop = parts.add_parser("drop", help="drop the constraint")
        add_parameters(add, ChangeConstraint)
        add_parameters(drop, ChangeConstraint, ("name",))
        for part in (add, drop):
            takes_json(part)
            takes_writing_options(part)
