"""The outbox of events, and the row that counts their numbers."""

import json
import uuid
from datetime import datetime
from typing import ClassVar

from django.db import models
from django.db.models import Q


class EventQuerySet(models.QuerySet["Event"]):
    """Queries over events."""

    def unpublished(self) -> "EventQuerySet":
        """Events without a number, in the order in which they were written."""
        return self.filter(number__isnull=True).order_by("id")

    def after(self, number: int, end: int | None = None) -> "EventQuerySet":
        """Published events with a higher number, in their order.

        Args:
            end: The last number; None for the newest event.
        """
        events = self.filter(number__gt=number).order_by("number")
        return events if end is None else events.filter(number__lte=end)

    def before(self, moment: datetime) -> "EventQuerySet":
        """Published events that happened before a moment."""
        return self.filter(number__isnull=False, at__lt=moment)


EventManager = models.Manager.from_queryset(EventQuerySet)


class Event(models.Model):
    """Something that happened, written in the transaction in which it happened.

    Names and sentence are those of that moment, and `data` is the JSON text of the
    payload, so that every answer has the same bytes.

    Attributes:
        uid: The id that receivers see.
        key: Equal keys are one event; None for an event that has no equal.
        sentence: What happened, for people.
        table_id: The table that it is about, if any; the order holds for each table.
        also: More subjects, each with `kind`, `id` and `name`. Who may not see all
            of them does not see the event.
        number: Its place in the stream; None until the publisher has given it.
    """

    id = models.BigAutoField(primary_key=True)
    uid = models.UUIDField(default=uuid.uuid4, unique=True, editable=False)
    kind = models.CharField(max_length=64)
    key = models.CharField(max_length=200, null=True, unique=True)  # noqa: DJ001 (null is not equal to null)
    subject_kind = models.CharField(max_length=32)
    subject_id = models.CharField(max_length=64)
    subject_name = models.CharField(max_length=500)
    table_id = models.UUIDField(null=True, blank=True)
    also = models.JSONField(default=list, blank=True)
    data = models.TextField()
    sentence = models.TextField()
    at = models.DateTimeField()
    number = models.BigIntegerField(null=True, blank=True, unique=True)

    objects: ClassVar = EventManager()

    class Meta:
        ordering: ClassVar = ["id"]
        indexes: ClassVar = [
            models.Index(
                fields=["id"],
                condition=Q(number__isnull=True),
                name="event_unpublished",
            ),
            models.Index(fields=["table_id", "number"], name="event_of_table"),
            models.Index(fields=["kind", "number"], name="event_of_kind"),
            models.Index(fields=["at"], name="event_time"),
        ]

    def __str__(self) -> str:
        return f"{self.kind} of {self.subject_name}"

    # === Queries ===

    @property
    def payload(self) -> dict[str, object]:
        """The payload as JSON has it."""
        found: dict[str, object] = json.loads(self.data)
        return found


class EventSequence(models.Model):
    """The one row whose lock gives events their numbers.

    Attributes:
        epoch: Changes when the database is restored: numbers given after the backup
            are unknown to it, and are given again.
        former: The earlier epochs, each with the last number that is still known.
        last_number: The highest number given.
        pruned_to: The highest number whose event was removed.
    """

    THE_ONE: ClassVar = 1

    id = models.PositiveSmallIntegerField(primary_key=True, default=THE_ONE)
    epoch = models.CharField(max_length=32)
    former = models.JSONField(default=dict, blank=True)
    last_number = models.BigIntegerField(default=0)
    pruned_to = models.BigIntegerField(default=0)

    def __str__(self) -> str:
        return f"epoch {self.epoch}"
