"""What follows an index: an app or a room registers what it does with a new one.

It can also add to the facts that the rules of health see.
"""

from collections.abc import Callable
from datetime import datetime
from typing import TYPE_CHECKING

from apps.pages.registry import Registry
from apps.tables.models import Table

if TYPE_CHECKING:
    from deltaweb.health.facts import HealthFacts

# Called after an index was stored, outside of its transaction; it does not raise.
Follower = Callable[[Table, datetime], object]

followers: Registry[Follower] = Registry()

# Returns facts with those that an app knows of the table, at a moment.
AddsFacts = Callable[["HealthFacts", Table, datetime], "HealthFacts"]

adds_facts: Registry[AddsFacts] = Registry()


def follow_index(table: Table, *, now: datetime) -> None:
    """Do what follows an index of a table."""
    for follower in followers:
        follower(table, now)
