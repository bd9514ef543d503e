"""What is kept of recipients beside their keys: assertions, certificates, reminders."""

from django.db import models


class UsedAssertion(models.Model):
    """An assertion that was traded for an access token: it is good once.

    `signed_sha256` is of its header and claims, which no other form of it can change.
    """

    signed_sha256 = models.CharField(max_length=64, primary_key=True)
    ends_at = models.DateTimeField(db_index=True)  # it is good no longer then

    def __str__(self) -> str:
        return self.signed_sha256


class ToldReminder(models.Model):
    """A reminder that was sent in one way, and is not sent so again.

    `told_sha256` is of the way and of the reminder's key.
    """

    told_sha256 = models.CharField(max_length=64, primary_key=True)
    told_at = models.DateTimeField(db_index=True)

    def __str__(self) -> str:
        return self.told_sha256


class Certificate(models.Model):
    """How a client last read a shared table for a recipient.

    `passed_version` is the newest that it has read; `broken_version` the first newer
    one that it did not, until it reads again.
    """

    recipient = models.ForeignKey(
        "sharing.Recipient", models.CASCADE, related_name="certificates"
    )
    shared_table = models.ForeignKey(
        "sharing.SharedTable", models.CASCADE, related_name="certificates"
    )
    client = models.CharField(max_length=64)
    client_version = models.CharField(max_length=64, blank=True)
    version = models.BigIntegerField(null=True, blank=True)
    num_rows = models.BigIntegerField(null=True, blank=True)
    size_bytes = models.BigIntegerField(null=True, blank=True)
    duration_s = models.FloatField()
    is_equal = models.BooleanField(default=True)
    error = models.TextField(blank=True)
    remedy = models.TextField(blank=True)
    rehearsed_at = models.DateTimeField()
    passed_version = models.BigIntegerField(null=True, blank=True)
    broken_version = models.BigIntegerField(null=True, blank=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["recipient", "shared_table", "client"],
                name="certificate_unique",
            )
        ]

    def __str__(self) -> str:
        return f"{self.client} of {self.shared_table}"
