"""For how long commits are kept that a cleaned log has lost."""

from datetime import datetime
from typing import Final

from django.db.models import F

from apps.tables.models import Commit

BATCH: Final = 2_000


def erase_archived(*, before: datetime) -> int:
    """Erase archived commits of before a time, in short transactions.

    Commits whose file the log holds stay, and so does the newest commit of each table.

    Returns:
        How many were erased.
    """
    old = Commit.objects.filter(
        is_archived=True, committed_at__lt=before, version__lt=F("table__version")
    )
    erased = 0
    while ids := list(old.order_by("id").values_list("id", flat=True)[:BATCH]):
        count, _ = old.filter(id__in=ids).delete()
        erased += count
    return erased
