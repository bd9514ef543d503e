"""`deltaweb table unset`: take properties of a table away."""

from argparse import ArgumentParser
from collections.abc import Mapping
from typing import Any

from deltaweb.web.tables.management.operation_verb import OperationVerb
from deltaweb.web.tables.operations.definition.change_property import (
    CHANGE_PROPERTY,
    ChangeProperty,
)


class Verb(OperationVerb[ChangeProperty]):
    """Take properties of a table away."""

    operation = CHANGE_PROPERTY

    def add_parameters(self, parser: ArgumentParser) -> None:
        """Declare the properties; those that are not there are skipped."""
        parser.add_argument("properties", nargs="+", metavar="key")

    def read(self, options: Mapping[str, Any]) -> ChangeProperty:
        """Return the names of what goes."""
        return ChangeProperty(values=dict.fromkeys(options["properties"]))
