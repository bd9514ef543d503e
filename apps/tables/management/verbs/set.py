"""`deltaweb table set`: set properties of a table."""

from argparse import ArgumentParser
from collections.abc import Mapping
from typing import Any

from deltaweb.web.tables.management.operation_verb import OperationVerb
from deltaweb.web.tables.operations.definition.change_property import (
    CHANGE_PROPERTY,
    ChangeProperty,
)
from deltaweb.web.tables.operations.parameters import given, pair


class Verb(OperationVerb[ChangeProperty]):
    """Set properties of a table, all of them in one commit."""

    operation = CHANGE_PROPERTY

    def add_parameters(self, parser: ArgumentParser) -> None:
        """Declare the properties."""
        parser.add_argument("properties", nargs="+", type=pair, metavar="key=value")
        super().add_parameters(parser)

    def read(self, options: Mapping[str, Any]) -> ChangeProperty:
        """Return the values by their names."""
        return ChangeProperty(values=dict(options["properties"]), **given(options))
