"""Answers that are kept for calls that are repeated."""

from datetime import timedelta
from typing import Final

from django.conf import settings
from django.db import models
from django.utils import timezone

KEPT_FOR: Final = timedelta(days=1)
MAX_KEY_LENGTH: Final = 255


class KeptAnswer(models.Model):
    """The answer of a POST that came with an idempotency key.

    It never holds a secret: of an answer with one, `body` is what may be said of it.
    """

    user = models.ForeignKey(
        settings.AUTH_USER_MODEL, models.CASCADE, related_name="kept_answers"
    )
    key = models.CharField(max_length=MAX_KEY_LENGTH)
    request_sha256 = models.CharField(max_length=64)  # of method, address and body
    created_at = models.DateTimeField(db_index=True)
    # Renewed while the call is answered; one that has ended was killed meanwhile.
    leased_until = models.DateTimeField(default=timezone.now)
    status = models.PositiveSmallIntegerField(null=True)  # None until it is answered
    headers = models.JSONField(default=dict)
    body = models.TextField(blank=True)
    had_secret = models.BooleanField(default=False)

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["user", "key"], name="kept_answer_unique_key"
            )
        ]

    def __str__(self) -> str:
        """Name the answer by its key."""
        return f"{self.key} of {self.user_id}"
