"""How far recipients have read shared tables, and what is held for them."""

from django.db import models


class LastRead(models.Model):
    """The version of a shared table that was last read by a token."""

    token = models.ForeignKey(
        "sharing.RecipientToken", models.CASCADE, related_name="reads"
    )
    shared_table = models.ForeignKey(
        "sharing.SharedTable", models.CASCADE, related_name="reads"
    )
    version = models.BigIntegerField()
    read_at = models.DateTimeField()

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["token", "shared_table"], name="last_read_unique"
            )
        ]

    def __str__(self) -> str:
        """Name what was read."""
        return f"{self.shared_table_id}@{self.version}"


class Hold(models.Model):
    """Versions of a shared table that stay readable for a recipient until a moment.

    They are `version` and all later ones: no vacuum and no clean-up of the log from
    here takes what they need.
    """

    recipient = models.ForeignKey(
        "sharing.Recipient", models.CASCADE, related_name="holds"
    )
    shared_table = models.ForeignKey(
        "sharing.SharedTable", models.CASCADE, related_name="holds"
    )
    version = models.BigIntegerField()
    ends_at = models.DateTimeField()
    made_at = models.DateTimeField()

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["recipient", "shared_table"], name="hold_unique"
            )
        ]

    def __str__(self) -> str:
        """Name what is held."""
        return f"{self.shared_table_id}@{self.version} until {self.ends_at}"
