"""AuditEvent: one call or one change, written once and never again.

Who and what are names and ids as they were at that moment, not references, so that the
record outlives what it describes.
"""

from typing import Any, Final

from django.db import models

# What counts of use need: they are then made from an index alone.
COUNTED: Final = ("kind", "status", "size_bytes")


class AuditEventQuerySet(models.QuerySet["AuditEvent"]):
    """Queries over the record; it refuses to change or remove a row."""

    def update(self, **_: object) -> int:
        """Refuse: the record is append-only."""
        raise AppendOnlyError

    def delete(self) -> tuple[int, dict[str, int]]:
        """Refuse: the record is append-only."""
        raise AppendOnlyError


AuditEventManager = models.Manager.from_queryset(AuditEventQuerySet)


class AppendOnlyError(Exception):
    """Something tried to change the record."""

    def __init__(self) -> None:
        super().__init__("The audit record is append-only: add a row instead.")


class AuditEvent(models.Model):
    """One call of the sharing protocol, one activation, or one change by a person.

    A rehearsal is a call that a user makes in the place of a recipient: `actor` is the
    user, `recipient` the recipient's name, and `recipient_id` is null, because use is
    counted by it.

    The database refuses UPDATE and DELETE by triggers, from every client.
    """

    class Kind(models.TextChoices):
        """What an event is about."""

        CALL = "CALL", "call"  # of the sharing protocol
        ACTIVATION = "ACTIVATION", "activation"  # of a link
        CHANGE = "CHANGE", "change"  # by an administrator or an editor
        REHEARSAL = "REHEARSAL", "rehearsal"  # a call in the place of a recipient

    at = models.DateTimeField()
    kind = models.CharField(max_length=16, choices=Kind)
    action = models.CharField(max_length=64)  # table.query, share.create, ...
    request_id = models.CharField(max_length=64, blank=True)

    # === Who ===
    actor = models.CharField(max_length=200, blank=True)  # a user; "" for a recipient
    actor_id = models.BigIntegerField(null=True, blank=True)
    recipient = models.CharField(max_length=255, blank=True)
    recipient_id = models.UUIDField(null=True, blank=True)
    token_id = models.UUIDField(null=True, blank=True)
    token_prefix = models.CharField(max_length=32, blank=True)
    address = models.CharField(max_length=64, blank=True)
    user_agent = models.CharField(max_length=300, blank=True)

    # === What ===
    share = models.CharField(max_length=255, blank=True)
    schema = models.CharField(max_length=255, blank=True)
    table = models.CharField(max_length=255, blank=True)  # its name in the share
    table_id = models.UUIDField(null=True, blank=True)  # of the catalogue
    version = models.BigIntegerField(null=True, blank=True)
    detail = models.JSONField(default=dict, blank=True)

    # === How it went ===
    status = models.PositiveSmallIntegerField(default=200)
    error_code = models.CharField(max_length=64, blank=True)
    duration_ms = models.FloatField(null=True, blank=True)
    num_files = models.BigIntegerField(null=True, blank=True)  # offered
    total_files = models.BigIntegerField(null=True, blank=True)  # before pruning
    size_bytes = models.BigIntegerField(null=True, blank=True)  # of the files offered
    # Of the same files; null where one of them does not say.
    num_rows = models.BigIntegerField(null=True, blank=True)

    objects = AuditEventManager()

    class Meta:
        ordering = ["-id"]
        indexes = [
            models.Index(fields=["at", *COUNTED], name="audit_at"),
            models.Index(
                fields=["recipient_id", "at", *COUNTED], name="audit_recipient"
            ),
            models.Index(fields=["token_id", "at", *COUNTED], name="audit_token"),
            models.Index(fields=["table_id", "at", *COUNTED], name="audit_table"),
            models.Index(fields=["share", "at", *COUNTED], name="audit_share"),
            models.Index(fields=["action", "at"], name="audit_action"),
        ]

    def __str__(self) -> str:
        return f"{self.action} {self.at:%Y-%m-%d %H:%M:%S}"

    def save(self, *args: Any, **kwargs: Any) -> None:  # noqa: ANN401 (Django's own)
        """Add the event; it cannot be saved again."""
        if not self._state.adding:
            raise AppendOnlyError
        super().save(*args, **{**kwargs, "force_insert": True})

    def delete(self, *_: object, **__: object) -> tuple[int, dict[str, int]]:
        """Refuse: the record is append-only."""
        raise AppendOnlyError


class AuditCursor(models.Model):
    """How far the record was sent to a place outside of the database.

    Attributes:
        name: The place, such as the path of a file.
        after_id: All events up to this number were sent.
        sent: The numbers of later events that were sent.
    """

    name = models.CharField(max_length=200, primary_key=True)
    after_id = models.BigIntegerField(default=0)
    sent = models.JSONField(default=list, blank=True)

    def __str__(self) -> str:
        return f"{self.name} up to {self.after_id}"
