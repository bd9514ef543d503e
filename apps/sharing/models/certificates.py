"""What came of letting a client read a shared table as a recipient."""

from django.db import models


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
        """Name the client and the table."""
        return f"{self.client} of {self.shared_table}"
