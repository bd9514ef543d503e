"""The errors of signing, and the wording of each.

LocationError
├── SigningUnsupportedError   a kind of storage whose files have no URLs
└── SigningKeyNeededError     a key that signs is missing, or is none
"""

from deltaweb.delta.errors import LocationError


class SigningUnsupportedError(LocationError, code="location-unsupported"):
    location: str
    scheme: str
    message = "{location}: files of {scheme}:// locations cannot be served by URL."
    hint = "Share tables of a local folder, S3, Google Cloud Storage or Azure."


class SigningKeyNeededError(LocationError, code="credentials-needed"):
    location: str
    wanted: str
    message = "URLs of {location} cannot be signed: {wanted}."
    hint = "Add the storage with that option (storage add), then try again."
