"""The errors of signing, and the wording of each.

LocationError
├── SigningUnsupportedError   a kind of storage whose files have no URLs
└── SigningKeyNeededError     a key that signs is missing, or is none
"""

from deltaweb.delta.errors import LocationError


class SigningUnsupportedError(LocationError):
    """No recipient could open a URL of such a file."""

    code = "location-unsupported"

    def __init__(self, *, location: str, scheme: str) -> None:
        super().__init__(
            f"{location}: files of {scheme}:// locations have no URLs to hand out.",
            hint="Share tables of a local folder, S3, Google Cloud Storage or Azure.",
            location=location,
        )


class SigningKeyNeededError(LocationError):
    """The store's URLs are signed with a key that is missing, or does not parse."""

    code = "credentials-needed"

    def __init__(self, *, location: str, wanted: str) -> None:
        super().__init__(
            f"URLs of {location} cannot be signed: {wanted}.",
            hint="Add the storage with that option (storage add), then try again.",
            location=location,
        )
