"""What object stores refuse, told apart by the codes of their answers.

Each is one of the errors of locations (deltaweb/delta/errors.py), so that whoever knows
those alone answers as well:

LocationNotFoundError ← BucketNotFoundError        no such bucket or container
LocationDeniedError ← RegionWrongError             the bucket is in another region
                    ← ClockSkewedError             the clocks of server and store differ
CredentialsNeededError ← CredentialsExpiredError   credentials that were good once
                       ← KeyUnknownError           an access key that nobody has
                       ← SecretWrongError          a secret of another access key
"""

from typing import Final

from deltaweb.delta.errors import (
    CredentialsNeededError,
    LocationDeniedError,
    LocationNotFoundError,
)

_OPTIONS: Final = "(storage add --replace)"


class BucketNotFoundError(LocationNotFoundError, code="bucket-not-found"):
    message = "{location} names a bucket that the store does not have."
    hint = "Check the spelling of the bucket, and the address of the store."


class RegionWrongError(LocationDeniedError, code="storage-region-wrong"):
    region: str = ""
    message = "{location} is in another region{_named}."
    hint = f"Give its region; as an option: client_kwargs.region_name {_OPTIONS}."

    @property
    def _named(self) -> str:
        return f" ({self.region})" if self.region else ""


class ClockSkewedError(LocationDeniedError, code="clock-skewed"):
    message = "{location} cannot be read: this server's clock is wrong."
    hint = "Set the clock, best with NTP. Stores allow a few minutes of difference."


class KeyUnknownError(CredentialsNeededError, code="storage-key-unknown"):
    message = "{location} cannot be read: its store does not know the access key."
    hint = "Check the key and the endpoint: each store has keys of its own."


class SecretWrongError(CredentialsNeededError, code="storage-secret-wrong"):
    message = "{location} cannot be read: the secret is not that of the access key."
    hint = "Copy the secret again, or make a new pair of keys in the store."


class CredentialsExpiredError(CredentialsNeededError, code="credentials-expired"):
    message = "{location} refuses its credentials: they have expired."
    hint = f"Sign in again, or give new ones {_OPTIONS}."
