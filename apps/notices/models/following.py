"""What people follow, the webhooks of systems, and what was delivered to both."""

import uuid
from collections.abc import Sequence
from datetime import datetime
from typing import ClassVar, Final

from django.db import connection, models
from django.db.models import Q

from apps.accounts.models import User
from apps.notices.models.events import Event

MAX_IDS: Final = 500
"""The limit of people in one statement."""


class Webhook(models.Model):
    """An address that gets events as signed requests.

    Attributes:
        salt: The secret is made of it and of the server's own key, so a copy of the
            database alone signs nothing.
        breaking_only: Whether schema changes and versions are sent only if they break
            readers. Other events are sent all the same.
        leased_until: A process sends from its queue until then. A moment that is over
            is the end of its last turn; None if it had none.
        paused_at: None while it is active.
        pause_reason: In half a sentence.
    """

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    user = models.ForeignKey(User, models.CASCADE, related_name="webhooks")
    url = models.CharField(max_length=2000)
    host = models.CharField(max_length=255)
    salt = models.CharField(max_length=64)
    breaking_only = models.BooleanField(default=False)
    created_at = models.DateTimeField()
    leased_until = models.DateTimeField(null=True, blank=True)
    paused_at = models.DateTimeField(null=True, blank=True)
    pause_reason = models.CharField(max_length=200, blank=True, default="")

    class Meta:
        indexes: ClassVar = [models.Index(fields=["host"], name="webhook_host")]

    def __str__(self) -> str:
        return self.host


class Follow(models.Model):
    """A subject that a person follows.

    Attributes:
        subject_kind: `table`, `namespace`, `share`, `recipient`, `job` or `owned` (all
            tables that the person owns).
        subject_id: Its key as text; the name of a namespace.
        subject_name: Its name when it was followed.
        kinds: The names of the kinds of events.
        breaking_only: Whether versions and schema changes count only if they break
            readers.
        often: How often mail is sent. The bell and webhooks get events at once.
    """

    class Often(models.TextChoices):
        """How often mail is sent."""

        ONCE = "once", "at once"
        DAILY = "daily", "once a day"
        WEEKLY = "weekly", "once a week"

    user = models.ForeignKey(User, models.CASCADE, related_name="follows")
    subject_kind = models.CharField(max_length=32)
    subject_id = models.CharField(max_length=300)
    subject_name = models.CharField(max_length=500)
    kinds = models.JSONField(default=list)
    breaking_only = models.BooleanField(default=False)
    by_bell = models.BooleanField(default=True)
    by_mail = models.BooleanField(default=False)
    webhooks = models.ManyToManyField(Webhook, related_name="follows", blank=True)
    often = models.CharField(max_length=8, choices=Often, default=Often.ONCE)
    created_at = models.DateTimeField()

    class Meta:
        constraints: ClassVar = [
            models.UniqueConstraint(
                fields=["user", "subject_kind", "subject_id"], name="followed_once"
            )
        ]
        indexes: ClassVar = [
            models.Index(fields=["subject_kind", "subject_id"], name="follow_subject")
        ]

    def __str__(self) -> str:
        return f"{self.user_id} follows {self.subject_name}"


class Notice(models.Model):
    """An event that a person is told of, once, by the bell, by mail or both.

    Attributes:
        by_bell: Whether it is shown under the bell.
        mail_due_at: When it is mailed; None if it is not, or was.
        mail_tries: How often the relay refused it.
    """

    id = models.BigAutoField(primary_key=True)
    user = models.ForeignKey(User, models.CASCADE, related_name="notices")
    event = models.ForeignKey(Event, models.CASCADE, related_name="notices")
    created_at = models.DateTimeField()
    by_bell = models.BooleanField(default=True)
    read_at = models.DateTimeField(null=True, blank=True)
    mail_due_at = models.DateTimeField(null=True, blank=True)
    mail_tries = models.PositiveSmallIntegerField(default=0)
    mailed_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        constraints: ClassVar = [
            models.UniqueConstraint(fields=["user", "event"], name="told_once")
        ]
        indexes: ClassVar = [
            models.Index(fields=["user", "-id"], name="notice_of_user"),
            models.Index(
                fields=["mail_due_at"],
                condition=Q(mail_due_at__isnull=False),
                name="notice_mail_due",
            ),
        ]

    def __str__(self) -> str:
        return f"{self.event_id} for {self.user_id}"

    @classmethod
    def add(
        cls,
        event: Event,
        user_ids: Sequence[int],
        *,
        by_bell: bool,
        mail_due_at: datetime | None,
        now: datetime,
    ) -> None:
        """Add the notices of an event for people who do not have one yet.

        The database makes the rows from the ids of the people, because an object for
        each row takes a minute for 1,000 events and 500 people.
        """
        time_of = connection.ops.adapt_datetimefield_value
        values = [event.pk, time_of(now), by_bell, time_of(mail_due_at), 0]
        for begin in range(0, len(user_ids), MAX_IDS):
            ids = user_ids[begin : begin + MAX_IDS]
            marks = ", ".join(["%s"] * len(ids))
            with connection.cursor() as cursor:
                cursor.execute(_ADD_NOTICES.format(marks=marks), [*values, *ids])


_ADD_NOTICES: Final = """
INSERT INTO notices_notice
    (user_id, event_id, created_at, by_bell, mail_due_at, mail_tries)
SELECT id, %s, %s, %s, %s, %s FROM accounts_user
WHERE id IN ({marks}) ORDER BY id
ON CONFLICT DO NOTHING
"""


class DeliveryQuerySet(models.QuerySet["Delivery"]):
    """Queries over deliveries."""

    def waiting(self) -> "DeliveryQuerySet":
        """Deliveries that are still to be sent."""
        return self.filter(state=Delivery.State.WAITING)


DeliveryManager = models.Manager.from_queryset(DeliveryQuerySet)


class Delivery(models.Model):
    """An event in the queue of a webhook.

    Attributes:
        event: None for a test.
        order: Deliveries of equal order are sent one after the other.
        due_at: When the next attempt is made.
        num_attempts: The attempts since it was queued, or was sent again.
    """

    class State(models.TextChoices):
        """Whether it has arrived."""

        WAITING = "waiting", "waiting"
        DONE = "done", "done"
        DROPPED = "dropped", "not sent"

    id = models.BigAutoField(primary_key=True)
    uid = models.UUIDField(default=uuid.uuid4, unique=True, editable=False)
    webhook = models.ForeignKey(Webhook, models.CASCADE, related_name="deliveries")
    event = models.ForeignKey(Event, models.CASCADE, null=True, related_name="+")
    order = models.CharField(max_length=64)
    state = models.CharField(max_length=8, choices=State, default=State.WAITING)
    created_at = models.DateTimeField()
    due_at = models.DateTimeField()
    num_attempts = models.PositiveSmallIntegerField(default=0)

    objects: ClassVar = DeliveryManager()

    class Meta:
        constraints: ClassVar = [
            models.UniqueConstraint(fields=["webhook", "event"], name="queued_once")
        ]
        indexes: ClassVar = [
            models.Index(
                fields=["webhook", "id"],
                condition=Q(state="waiting"),
                name="delivery_waiting",
            )
        ]

    def __str__(self) -> str:
        return f"{self.event_id} to {self.webhook_id}"

    @property
    def message_id(self) -> str:
        """The id that receivers see; equal ids are one event."""
        return str(self.uid if self.event is None else self.event.uid)


class Attempt(models.Model):
    """One request of a delivery.

    Attributes:
        number: Counted from 1 since the delivery was queued or sent again.
        status: The status of the answer; None if there was none.
        reason: Why there was no answer.
        answer: The beginning of the answer. Only administrators see it.
    """

    id = models.BigAutoField(primary_key=True)
    delivery = models.ForeignKey(Delivery, models.CASCADE, related_name="attempts")
    at = models.DateTimeField()
    number = models.PositiveSmallIntegerField()
    status = models.PositiveSmallIntegerField(null=True)
    reason = models.CharField(max_length=300, blank=True, default="")
    answer = models.TextField(blank=True, default="")
    took_s = models.FloatField()

    def __str__(self) -> str:
        return f"attempt {self.number} of {self.delivery_id}"


class Distribution(models.Model):
    """The one row that says up to which event people and webhooks were served."""

    THE_ONE: ClassVar = 1

    id = models.PositiveSmallIntegerField(primary_key=True, default=THE_ONE)
    number = models.BigIntegerField(default=0)

    def __str__(self) -> str:
        return f"up to {self.number}"

    @classmethod
    def locked(cls) -> "Distribution":
        """Return the row, locked until the transaction ends."""
        cls.objects.get_or_create(id=cls.THE_ONE)
        return cls.objects.select_for_update().get(id=cls.THE_ONE)
