"""Namespaces: who may see the tables of each, and whom to ask about them."""

from collections.abc import Iterable
from datetime import datetime

from django.conf import settings
from django.db import models

MAX_DESCRIPTION_LENGTH = 2_000


class NamespaceQuerySet(models.QuerySet["Namespace"]):
    """Queries over namespaces."""

    def private_names(self) -> "models.QuerySet[Namespace, str]":
        """Return a query of one column, the names of the private ones."""
        return self.filter(is_private=True).order_by().values_list("name", flat=True)

    def ensure(self, names: Iterable[str], now: datetime) -> None:
        """Add a row for each of some names that has none; such a namespace is open."""
        wanted = set(names)
        missing = wanted - set(
            self.filter(name__in=wanted).values_list("name", flat=True)
        )
        self.bulk_create(
            [Namespace(name=name, created_at=now) for name in sorted(missing)],
            ignore_conflicts=True,
        )


NamespaceManager = models.Manager.from_queryset(NamespaceQuerySet)


class Namespace(models.Model):
    """A namespace of tables.

    `Table.namespace` is its name. A namespace without a row is open: the row is added
    with the first table, and whatever makes it private adds the row as well.

    Attributes:
        is_private: Whether only grants and administrators count for its tables.
        is_listed: Whether people who may not see a table of it learn of its name, its
            description and its owner, so that they can ask for access.
        owned_by: Whom to ask about it. That alone grants nothing.
    """

    name = models.CharField(max_length=200, unique=True)
    description = models.TextField(blank=True)
    owned_by = models.ForeignKey(
        settings.AUTH_USER_MODEL,
        models.SET_NULL,
        null=True,
        blank=True,
        related_name="owned_namespaces",
    )
    is_private = models.BooleanField(default=False)
    is_listed = models.BooleanField(default=False)
    created_at = models.DateTimeField()

    objects = NamespaceManager()

    class Meta:
        ordering = ["name"]
        indexes = [
            models.Index(
                fields=["name"],
                condition=models.Q(is_private=True),
                name="namespace_private",
            )
        ]

    def __str__(self) -> str:
        return self.name

    @property
    def owner_name(self) -> str | None:
        """The name of the account that owns it."""
        return self.owned_by.username if self.owned_by else None
