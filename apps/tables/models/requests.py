"""Requests of access: grants that an owner has yet to decide about."""

from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Final

from django.conf import settings
from django.db import models
from django.db.models import Q

if TYPE_CHECKING:
    from apps.accounts.models import User

MAX_PURPOSE_LENGTH: Final = 500
OPEN_FOR: Final = timedelta(days=14)
"""How long a request waits for a decision."""


class AccessRequestQuerySet(models.QuerySet["AccessRequest"]):
    """Queries over requests."""

    def open(self, now: datetime) -> "AccessRequestQuerySet":
        """Requests that wait for a decision."""
        return self.filter(state=AccessRequest.State.PENDING, open_until__gt=now)

    def by(self, user: "User") -> "AccessRequestQuerySet":
        """Requests that a user made."""
        return self.filter(requested_by=user.pk)


AccessRequestManager = models.Manager.from_queryset(AccessRequestQuerySet)


class AccessRequest(models.Model):
    """A request of a right on a table, a namespace or a share.

    Attributes:
        group: The group that the right is for; None if it is for `requested_by`.
        table: The table; None if it is something else.
        namespace: The namespace; None if it is something else.
        other: The key of something else, such as a share; see
            `apps.tables.extension.requestables`.
        name: The name at the time of the request. The requester may not be allowed to
            learn a later one.
        purpose: What the right is for, as plain text.
        wanted_days: How long the right is wanted, from its approval on; None if
            `wanted_until` says it, or without an end.
        wanted_until: The moment until which it is wanted.
        open_until: The moment from which on the request cannot be approved.
        decided_by: The name of who approved or rejected it, as the audit record has it.
        answer: The reason of a rejection, which the requester reads.
        grant: The grant of an approved request of a table or a namespace.
        given_until: The end of what was given; None if it has no end, or if nothing
            was given. A grant may end earlier.
    """

    class State(models.TextChoices):
        """The state of a request."""

        PENDING = "pending", "pending"
        APPROVED = "approved", "approved"
        SHORTENED = "shortened", "approved for a shorter time"
        REJECTED = "rejected", "rejected"
        WITHDRAWN = "withdrawn", "withdrawn"
        EXPIRED = "expired", "expired"

    requested_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, models.CASCADE, related_name="access_requests"
    )
    group = models.ForeignKey(
        "accounts.Group",
        models.CASCADE,
        null=True,
        blank=True,
        related_name="access_requests",
    )
    table = models.ForeignKey(
        "tables.Table",
        models.CASCADE,
        null=True,
        blank=True,
        related_name="access_requests",
    )
    namespace = models.ForeignKey(
        "tables.Namespace",
        models.CASCADE,
        null=True,
        blank=True,
        related_name="access_requests",
    )
    other = models.CharField(max_length=64, blank=True, default="")
    name = models.CharField(max_length=500, blank=True, default="")
    right = models.CharField(max_length=8)
    purpose = models.CharField(max_length=MAX_PURPOSE_LENGTH)
    wanted_days = models.PositiveIntegerField(null=True, blank=True)
    wanted_until = models.DateTimeField(null=True, blank=True)
    requested_at = models.DateTimeField()
    open_until = models.DateTimeField()
    state = models.CharField(max_length=16, choices=State, default=State.PENDING)
    # Equal requests have equal keys; null once it is decided.
    open_key = models.CharField(max_length=120, unique=True, null=True, blank=True)
    decided_by = models.CharField(max_length=150, blank=True)
    decided_at = models.DateTimeField(null=True, blank=True)
    answer = models.CharField(max_length=MAX_PURPOSE_LENGTH, blank=True)
    grant = models.OneToOneField(
        "tables.Grant",
        models.SET_NULL,
        null=True,
        blank=True,
        related_name="request",
    )

    given_until = models.DateTimeField(null=True, blank=True)

    objects = AccessRequestManager()

    class Meta:
        ordering = ["-id"]
        constraints = [
            models.CheckConstraint(
                condition=(Q(other="") & (Q(namespace=None) ^ Q(table=None)))
                | (~Q(other="") & Q(namespace=None, table=None)),
                name="request_on_one",
            ),
            models.CheckConstraint(
                condition=Q(right__in=["view", "edit", "share"]),
                name="request_right_known",
            ),
        ]
        indexes = [
            models.Index(
                fields=["open_until"],
                condition=Q(state="pending"),
                name="request_open",
            )
        ]

    def __str__(self) -> str:
        return f"{self.right} on {self.name} for {self.holder_name}"

    # === Queries ===

    @property
    def key(self) -> str:
        """The `open_key` that it has while it is pending."""
        subject = self.table_id or self.namespace_id or self.other
        return f"{self.requested_by_id}/{self.group_id or ''}/{subject}/{self.right}"

    def state_at(self, now: datetime) -> str:
        """Return what became of it; a pending one that nobody decided expires."""
        is_over = self.state == self.State.PENDING and self.open_until <= now
        return self.State.EXPIRED if is_over else self.state

    def ends_at(self, now: datetime) -> datetime | None:
        """Return the end of its grant if it was approved at a moment; None for none."""
        if self.wanted_days is not None:
            return now + timedelta(days=self.wanted_days)
        return self.wanted_until

    @property
    def holder_name(self) -> str:
        """The name of the person or the group that the right is for."""
        return self.group.name if self.group else self.requested_by.username
