"""Which storage may be read, and how it is reached: the rows that say so."""

from django.conf import settings
from django.db import models


class AllowedRoot(models.Model):
    """A folder that is always allowed, whatever `DELTAWEB_ALLOWED_ROOTS` says."""

    path = models.CharField(max_length=1000, unique=True)  # without symbolic links
    reason = models.CharField(max_length=100, blank=True)
    created_at = models.DateTimeField()

    def __str__(self) -> str:
        return self.path


class StorageConnection(models.Model):
    """How the tables below a prefix of an object store are read and signed.

    Attributes:
        prefix: As `storage_connections.parse_prefix` spells it.
        sealed: The options, encrypted; nothing but the driver ever sees them.
    """

    name = models.CharField(max_length=100, unique=True)
    prefix = models.CharField(max_length=500, unique=True)
    option_names = models.JSONField(default=list)
    sealed = models.TextField()
    created_at = models.DateTimeField()
    updated_at = models.DateTimeField()
    created_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, models.SET_NULL, null=True, blank=True
    )

    class Meta:
        ordering = ["name"]

    def __str__(self) -> str:
        return self.name
