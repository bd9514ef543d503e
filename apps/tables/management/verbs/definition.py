"""What a table is: `comment`, `constraint`, `set`, `unset`, `upgrade`."""

from argparse import ArgumentParser
from collections.abc import Mapping
from typing import Any

from apps.pages.changes.parameters import add_parameters, given, pair
from apps.pages.command import takes_json, takes_writing_options
from apps.tables.management.operation_verb import OperationVerb
from apps.tables.operations.definition.change_constraint import (
    CHANGE_CONSTRAINT,
    ChangeConstraint,
)
from apps.tables.operations.definition.change_property import (
    CHANGE_PROPERTY,
    ChangeProperty,
)
from apps.tables.operations.definition.describe import DESCRIBE, Describe
from apps.tables.operations.definition.upgrade_protocol import (
    UPGRADE_PROTOCOL,
    UpgradeProtocol,
)


class CommentVerb(OperationVerb[Describe]):
    """Describe a table, or a column of it, in its log."""

    operation = DESCRIBE


class ConstraintVerb(OperationVerb[ChangeConstraint]):
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


class SetVerb(OperationVerb[ChangeProperty]):
    """Set properties of a table, all of them in one commit."""

    operation = CHANGE_PROPERTY

    def add_parameters(self, parser: ArgumentParser) -> None:
        """Declare the properties."""
        parser.add_argument("properties", nargs="+", type=pair, metavar="key=value")
        super().add_parameters(parser)

    def read(self, options: Mapping[str, Any]) -> ChangeProperty:
        """Return the values by their names."""
        return ChangeProperty(values=dict(options["properties"]), **given(options))


class UnsetVerb(OperationVerb[ChangeProperty]):
    """Remove properties of a table."""

    operation = CHANGE_PROPERTY

    def add_parameters(self, parser: ArgumentParser) -> None:
        """Declare the properties; those that are not there are skipped."""
        parser.add_argument("properties", nargs="+", metavar="key")

    def read(self, options: Mapping[str, Any]) -> ChangeProperty:
        """Return the names of what goes."""
        return ChangeProperty(values=dict.fromkeys(options["properties"]))


class UpgradeVerb(OperationVerb[UpgradeProtocol]):
    """Raise the versions of a table's protocol; this cannot be undone."""

    operation = UPGRADE_PROTOCOL
