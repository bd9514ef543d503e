"""What OAuth clients have signed and traded already, remembered while it is good."""

from django.db import models


class UsedAssertion(models.Model):
    """An assertion that was traded for an access token: it is good once.

    `signed_sha256` is of its header and claims, which no other form of it can change.
    """

    signed_sha256 = models.CharField(max_length=64, primary_key=True)
    ends_at = models.DateTimeField(db_index=True)  # it is good no longer then

    def __str__(self) -> str:
        """Name the assertion."""
        return self.signed_sha256
