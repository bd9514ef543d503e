"""Which tables an account has opened, and which it keeps at hand."""

from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Final

from django.conf import settings
from django.db import models

from apps.tables.models.rights import VIEW, allowed

if TYPE_CHECKING:
    from django.contrib.auth.models import AnonymousUser

    from apps.accounts.models import User

NOTED_EVERY: Final = timedelta(minutes=1)


class TableUseQuerySet(models.QuerySet["TableUse"]):
    """Queries over what an account keeps of tables."""

    def seen_by(self, user: "User | AnonymousUser") -> "TableUseQuerySet":
        """Those of an account, of tables that it may still see."""
        # An account has few rows: checking their tables is faster than listing all
        # visible tables.
        return self.filter(allowed(user, VIEW, "table__"), user=user.pk)


TableUseManager = models.Manager.from_queryset(TableUseQuerySet)


class TableUse(models.Model):
    """What an account keeps of a table: its last visit, and since when it is pinned."""

    user = models.ForeignKey(
        settings.AUTH_USER_MODEL, models.CASCADE, related_name="table_uses"
    )
    table = models.ForeignKey("tables.Table", models.CASCADE, related_name="uses")
    viewed_at = models.DateTimeField(null=True, blank=True)
    pinned_at = models.DateTimeField(null=True, blank=True)

    objects = TableUseManager()

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["user", "table"], name="table_use_once_a_user"
            )
        ]
        indexes = [models.Index(fields=["user", "-viewed_at"], name="table_use_newest")]

    def __str__(self) -> str:
        return f"{self.user_id} of {self.table_id}"

    # === Queries ===

    def is_noted(self, now: datetime) -> bool:
        """Whether a visit at a moment is noted already."""
        return self.viewed_at is not None and now - self.viewed_at < NOTED_EVERY
