"""What the pages of changes of a definition refuse at once, by the database.

The worker looks at the log itself.
"""

from collections.abc import Callable
from typing import TYPE_CHECKING, TypeVar

from apps.tables.head.newest import newest_definition
from apps.tables.models import Table
from deltaweb.delta.writing import operations

if TYPE_CHECKING:
    from apps.tables.operations.definition.definition_change import Change

P = TypeVar("P")


def check_by(change: "Change[P]") -> Callable[[Table, P], None]:
    """Return the check of a page whose operation makes a change.

    It raises what the change would, of the definition that the database knows.
    """

    def check(table: Table, asked: P) -> None:
        definition = newest_definition(table)
        if definition is not None:
            transaction = change(definition, asked, table.location)
            operations.definition_plan.plan_definition(transaction, root=table.location)

    return check
