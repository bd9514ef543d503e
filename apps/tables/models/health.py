"""What rules found of tables, shares and recipients: open, put aside, and closed."""

from datetime import datetime
from typing import TYPE_CHECKING, Final, Self

from django.conf import settings
from django.db import models
from django.db.models import Q

from apps.tables.models.rights import VIEW, allowed

if TYPE_CHECKING:
    from django.contrib.auth.models import AnonymousUser

    from apps.accounts.models import User

MAX_KEY_LENGTH: Final = 300


class StoredFindingQuerySet(models.QuerySet["StoredFinding"]):
    """Queries over findings."""

    def visible_to(self, user: "User | AnonymousUser") -> Self:
        """Findings of tables that a user may see; those of sharing for administrators.

        The rule for tables is that of `Table.objects.visible_to`.
        """
        if not user.is_authenticated:
            return self.none()
        if user.is_admin and user.is_active:
            return self
        return self.filter(allowed(user, VIEW, "table__"), is_of_sharing=False)

    def open(self) -> Self:
        """Findings that hold."""
        return self.filter(closed_at=None)

    def listed(self, now: datetime) -> Self:
        """Findings that hold and are not muted."""
        return self.open().filter(Q(muted_until=None) | Q(muted_until__lte=now))

    def muted(self, now: datetime) -> Self:
        """Findings that hold and are muted."""
        return self.open().filter(muted_until__gt=now)


StoredFindingManager = models.Manager.from_queryset(StoredFindingQuerySet)


class StoredFinding(models.Model):
    """A finding of a rule, from when it was found until it no longer holds.

    What comes back after it was closed is another finding.
    """

    class Severity(models.IntegerChoices):
        """What it means for readers; the worst first."""

        ACT_NOW = 1, "act now"
        COSTS = 2, "costs"
        TO_KNOW = 3, "to know"

    table = models.ForeignKey(
        "tables.Table",
        models.CASCADE,
        null=True,
        blank=True,
        related_name="findings",
    )
    # Of a share, a token or a recipient: only administrators see it.
    is_of_sharing = models.BooleanField(default=False)
    # What a finding of sharing is about, and its page.
    subject = models.CharField(max_length=420, blank=True)
    subject_url = models.CharField(max_length=600, blank=True)
    rule = models.CharField(max_length=64)
    # Names the same finding of the same subject: one of them is open at most.
    key = models.CharField(max_length=MAX_KEY_LENGTH)
    severity = models.PositiveSmallIntegerField(choices=Severity)
    sentence = models.TextField()
    evidence = models.JSONField(default=list, blank=True)  # label, value, unit
    cost = models.JSONField(null=True, blank=True)  # amount, unit, about
    cost_bytes = models.BigIntegerField(null=True, blank=True)  # of a cost in bytes
    # operation, label, parameters, command; null where nothing is to be done.
    remedy = models.JSONField(null=True, blank=True)
    since = models.DateTimeField()
    found_at = models.DateTimeField()
    seen_at = models.DateTimeField()
    closed_at = models.DateTimeField(null=True, blank=True)
    closed_version = models.BigIntegerField(null=True, blank=True)

    # === What people said of it ===
    acknowledged_at = models.DateTimeField(null=True, blank=True)
    acknowledged_by = models.CharField(max_length=150, blank=True)
    muted_at = models.DateTimeField(null=True, blank=True)
    muted_until = models.DateTimeField(null=True, blank=True)
    muted_by = models.CharField(max_length=150, blank=True)
    assignee = models.ForeignKey(
        settings.AUTH_USER_MODEL,
        models.SET_NULL,
        null=True,
        blank=True,
        related_name="findings",
    )
    assigned_at = models.DateTimeField(null=True, blank=True)

    objects = StoredFindingManager()

    class Meta:
        ordering = ["severity", "rule", "id"]
        constraints = [
            models.UniqueConstraint(
                fields=["key"], condition=Q(closed_at=None), name="finding_open_once"
            )
        ]
        indexes = [
            models.Index(
                fields=["severity", "rule", "id"],
                condition=Q(closed_at=None),
                name="finding_open_by_rule",
            ),
            models.Index(fields=["-closed_at"], name="finding_newest_closed"),
        ]

    def __str__(self) -> str:
        return f"{self.label}: {self.sentence}"

    @property
    def label(self) -> str:
        """The name of what it is about."""
        return self.table.full_name if self.table else self.subject

    @property
    def severity_word(self) -> str:
        """Its severity as scripts read it: `act-now`."""
        return str(self.Severity(self.severity).label).replace(" ", "-")


class NamespaceThresholds(models.Model):
    """The thresholds of rules for the tables of a namespace, where they differ."""

    namespace = models.CharField(max_length=200, unique=True)
    values = models.JSONField(default=dict)  # by the name of a threshold
    changed_at = models.DateTimeField()

    def __str__(self) -> str:
        return self.namespace
