"""Grants: rights on a table or a namespace that a person or a group was given."""

from datetime import datetime
from typing import TYPE_CHECKING, Final

from django.conf import settings
from django.db import models
from django.db.models import Q

from apps.accounts.models import Membership

if TYPE_CHECKING:
    from apps.accounts.models import User

MAX_REASON_LENGTH: Final = 500


class GrantQuerySet(models.QuerySet["Grant"]):
    """Queries over grants."""

    def active(self, now: datetime) -> "GrantQuerySet":
        """Grants that were not ended and are not past their end."""
        return self.filter(Q(until=None) | Q(until__gt=now), ended_at=None)

    def of(self, user: "User") -> "GrantQuerySet":
        """Grants to a person or to a group that the person is in."""
        groups = Membership.objects.filter(user=user.pk).values("group")
        return self.filter(Q(user=user.pk) | Q(group__in=groups))


GrantManager = models.Manager.from_queryset(GrantQuerySet)


class Grant(models.Model):
    """A right on a table, or on every table of a namespace.

    It belongs to the row of its subject, not to the name, so it survives a rename. One
    that ended stays as a record of who could see what.

    Attributes:
        user: Who has it; None if it is a group.
        group: The group whose members have it; None if it is a person.
        namespace: All its tables, also those of later; None if it is one table.
        table: The table; None if it is a namespace.
        until: The moment from which on it does not count; None if it has no end.
        given_by: The name of who gave it, as the audit record has it.
        ended_at: The moment at which somebody ended it.
    """

    class Right(models.TextChoices):
        """A right that is granted; see `apps.tables.permissions.meaning`."""

        VIEW = "view", "view"
        EDIT = "edit", "edit"
        SHARE = "share", "share"
        OWN = "own", "own"

    user = models.ForeignKey(
        settings.AUTH_USER_MODEL,
        models.CASCADE,
        null=True,
        blank=True,
        related_name="grants",
    )
    group = models.ForeignKey(
        "accounts.Group",
        models.CASCADE,
        null=True,
        blank=True,
        related_name="grants",
    )
    namespace = models.ForeignKey(
        "tables.Namespace",
        models.CASCADE,
        null=True,
        blank=True,
        related_name="grants",
    )
    table = models.ForeignKey(
        "tables.Table",
        models.CASCADE,
        null=True,
        blank=True,
        related_name="grants",
    )
    right = models.CharField(max_length=8, choices=Right)
    reason = models.CharField(max_length=MAX_REASON_LENGTH, blank=True)
    until = models.DateTimeField(null=True, blank=True)
    given_by = models.CharField(max_length=150)
    given_at = models.DateTimeField()
    ended_by = models.CharField(max_length=150, blank=True)
    ended_at = models.DateTimeField(null=True, blank=True)

    objects = GrantManager()

    class Meta:
        ordering = ["id"]
        constraints = [
            models.CheckConstraint(
                condition=Q(user=None) ^ Q(group=None), name="grant_to_one"
            ),
            models.CheckConstraint(
                condition=Q(namespace=None) ^ Q(table=None), name="grant_on_one"
            ),
            models.CheckConstraint(
                condition=Q(right__in=["view", "edit", "share", "own"]),
                name="grant_right_known",
            ),
        ]

    def __str__(self) -> str:
        return f"{self.right} on {self.subject_name} to {self.holder_name}"

    # === Queries ===

    def is_active(self, now: datetime) -> bool:
        """Whether it counts at a moment."""
        return self.ended_at is None and (self.until is None or self.until > now)

    @property
    def holder_name(self) -> str:
        """The name of the person or of the group."""
        if self.user is not None:
            return self.user.username
        return self.group.name if self.group is not None else ""

    @property
    def subject_name(self) -> str:
        """The name of the table, or that of the namespace with `.*`."""
        if self.table is not None:
            return self.table.full_name
        return f"{self.namespace.name}.*" if self.namespace is not None else ""
