"""For how long the record is kept."""

from datetime import datetime
from typing import Final

from django.db import connection, transaction

from apps.audit.append_only import allow_deletion, refuse_deletion
from apps.audit.models import AuditCursor, AuditEvent

BATCH: Final = 5000


@transaction.atomic
def erase_events(*, before: datetime, place: str) -> int:
    """Erase events of before a time, and return how many.

    The database refuses to delete events. That is lifted within this transaction alone.

    Args:
        place: Where events are sent, if that is set: one that was not sent yet stays.
    """
    old = AuditEvent.objects.filter(at__lt=before)
    if place:
        cursor = AuditCursor.objects.filter(name=place[:200]).first()
        old = old.filter(id__lte=cursor.after_id if cursor else 0)
    ids = list(old.order_by("id").values_list("id", flat=True)[:BATCH])
    if not ids:
        return 0
    allow_deletion(connection)
    table = connection.ops.quote_name(AuditEvent._meta.db_table)  # noqa: SLF001 (Django documents it)
    at = connection.ops.adapt_datetimefield_value(before)
    with connection.cursor() as sql:
        sql.execute(
            f"DELETE FROM {table} WHERE at < %s AND id BETWEEN %s AND %s",  # noqa: S608 (of constants)
            [at, ids[0], ids[-1]],
        )
    refuse_deletion(connection)
    return len(ids)
