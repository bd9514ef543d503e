"""Sessions of recipients who read in the browser."""

import uuid

from django.db import models


class BrowserSession(models.Model):
    """A session of a recipient in the browser; only a hash of its secret is kept.

    `previous_visit_at` is when the recipient last looked before this visit.
    """

    class OpenedBy(models.TextChoices):
        """What the recipient proved itself by."""

        TOKEN = "TOKEN", "token"
        LINK = "LINK", "activation link"
        MAIL = "MAIL", "e-mail"

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    token = models.ForeignKey(
        "sharing.RecipientToken", models.CASCADE, related_name="browser_sessions"
    )
    secret_sha256 = models.CharField(max_length=64, unique=True)
    opened_by = models.CharField(max_length=8, choices=OpenedBy)
    opened_at = models.DateTimeField()
    opened_from = models.CharField(max_length=64, blank=True)
    seen_at = models.DateTimeField()
    open_until = models.DateTimeField()
    ended_at = models.DateTimeField(null=True, blank=True)
    previous_visit_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        ordering = ["-opened_at", "-id"]

    def __str__(self) -> str:
        return str(self.id)
