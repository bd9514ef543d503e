"""Drivers of object stores, loaded before a job needs them.

To load one, and to open its first session, takes as long as many jobs.
"""

from typing import Final

from apps.tables.models import Table
from apps.tables.storage.connections import options_for
from deltaweb.storage.location import RECEIVED
from deltaweb.storage.place import open_store

MOST: Final = 4  # places; most installations have one or two


def load_used() -> None:
    """Load the drivers of the object stores that tables are in."""
    stores = Table.objects.exclude(location__startswith=RECEIVED)  # these need none
    remote = stores.filter(location__contains="://").order_by("-indexed_at")
    seen: set[str] = set()
    for location in remote.values_list("location", flat=True)[: MOST**2]:
        scheme, _, rest = location.partition("://")
        bucket = f"{scheme}://{rest.partition('/')[0]}"
        if bucket not in seen and len(seen) < MOST:
            seen.add(bucket)
            open_store(location, options_for(location)).root_exists()
