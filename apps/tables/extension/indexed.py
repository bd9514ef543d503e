"""What follows an index: an app or a room registers what it does with a new one."""

from collections.abc import Callable
from datetime import datetime

from apps.pages.registry import Registry
from apps.tables.models import Table

# Called after an index was stored, outside of its transaction; it does not raise.
Follower = Callable[[Table, datetime], object]

followers: Registry[Follower] = Registry()


def follow_index(table: Table, *, now: datetime) -> None:
    """Do what follows an index of a table."""
    for follower in followers:
        follower(table, now)
