"""Tables that their lake no longer has: a word beside their name, and a filter."""

from collections.abc import Collection, Mapping
from typing import TYPE_CHECKING
from uuid import UUID

from deltaweb.web.tables.extension.badges import Badge
from deltaweb.web.tables.extension.marks import Mark
from deltaweb.web.tables.models import Table

if TYPE_CHECKING:
    from deltaweb.web.pages.frame.navigation import AnyUser

BADGE = Badge(
    label="vanished",
    icon="database-off",
    title="The newest scan of its lake did not find it",
)


def vanished_badges(_: "AnyUser", table_ids: Collection[UUID]) -> Mapping[UUID, Badge]:
    """Return the badge of those of some tables that are gone."""
    gone = Table.objects.filter(id__in=table_ids, vanished_at__isnull=False)
    return dict.fromkeys(gone.values_list("id", flat=True), BADGE)


MARK = Mark(
    key="vanished",
    tables=lambda: Table.objects.filter(vanished_at__isnull=False).values_list(
        "id", flat=True
    ),
    visible=lambda _: True,
)
