"""Lakes, whose tables are registered again and again; which storage may be read."""

import uuid

from django.conf import settings
from django.db import models
from django.urls import reverse

from apps.tables.models.schedules import ONLY_WHEN_ASKED_S


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
        failures: Of checks of a provider of received shares, in a row.
        rests_until: Before that no work in the background asks such a provider.
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
    failures = models.PositiveIntegerField(default=0)
    rests_until = models.DateTimeField(null=True, blank=True)

    class Meta:
        ordering = ["name"]

    def __str__(self) -> str:
        return self.name


class Lake(models.Model):
    """Where tables are looked for, and what the newest scan found.

    How its storage is reached is what its storage connection says, found by the URL.

    Attributes:
        url: A folder, or the URL of an object store; from `parse_location`.
        namespace: Of every table; "" is the path below it.
        owner: Who added it; none for the command line and the start of the server.
        scan_interval_s: How often it is scanned; 0 is only when asked.
        removed: Where tables were that people took out of the catalogue: they come back
            when somebody asks for a scan, and not by its schedule.
        num_unreadable: Of the folders that the newest scan could not list.
    """

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    url = models.CharField(max_length=2000, unique=True)
    namespace = models.CharField(max_length=200, blank=True)
    owner = models.ForeignKey(
        settings.AUTH_USER_MODEL, models.SET_NULL, null=True, blank=True
    )
    created_at = models.DateTimeField()

    scan_interval_s = models.PositiveIntegerField(default=ONLY_WHEN_ASKED_S)
    scan_due_at = models.DateTimeField(db_index=True)
    removed = models.JSONField(default=list, blank=True)

    # === The newest scan ===
    scanned_at = models.DateTimeField(null=True, blank=True)
    num_tables = models.PositiveIntegerField(null=True, blank=True)
    num_folders = models.PositiveIntegerField(null=True, blank=True)
    num_unreadable = models.PositiveIntegerField(default=0)
    is_truncated = models.BooleanField(default=False)
    failures = models.PositiveIntegerField(default=0)  # in a row
    error_code = models.CharField(max_length=64, blank=True)
    error = models.TextField(blank=True)
    error_hint = models.TextField(blank=True)

    class Meta:
        ordering = ["url"]

    def __str__(self) -> str:
        return self.url

    def get_absolute_url(self) -> str:
        """Return the address of its page."""
        return reverse("tables:lake-detail", args=[self.id])

    @property
    def state(self) -> str:
        """`new`, `scanned` or `failed`, as the newest scan ended."""
        if self.error_code:
            return "failed"
        return "new" if self.scanned_at is None else "scanned"
