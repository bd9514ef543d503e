"""The columns that differ between two versions, a page of them at a time."""

from dataclasses import dataclass
from itertools import accumulate
from typing import Any, Final

from apps.pages.lists.paging import Paged, paged
from apps.tables.versions.change_json import schema_json
from deltaweb.delta.changes import SchemaChanges

PAGE_LENGTH: Final = 200


@dataclass(frozen=True, slots=True, kw_only=True)
class SchemaPart:
    """Some changes of a schema, by kind, and how many there are."""

    changes: SchemaChanges
    paged: Paged

    def describe(self) -> dict[str, Any]:
        """Return them as the JSON form of a page shows them."""
        return schema_json(self.changes)


def schema_part(changes: SchemaChanges, page: int) -> SchemaPart:
    """Return one page of changes; the last one where there are fewer.

    Added columns come first, then those that were removed, that changed, and the
    structs whose order did.
    """
    place = paged(changes.count, page, length=PAGE_LENGTH)
    first, last = place.start, place.last
    kinds = (changes.added, changes.removed, changes.changed, changes.reordered)
    starts = [0, *accumulate(map(len, kinds))]
    added, removed, changed, reordered = (
        slice(max(first - start, 0), max(last - start, 0)) for start in starts[:-1]
    )
    return SchemaPart(
        changes=SchemaChanges(
            added=changes.added[added],
            removed=changes.removed[removed],
            changed=changes.changed[changed],
            reordered=changes.reordered[reordered],
        ),
        paged=place,
    )
