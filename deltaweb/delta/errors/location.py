"""Errors of the place that a table is said to be at."""

from collections.abc import Iterable

from deltaweb.delta.errors.base import DeltaError


class LocationError(DeltaError):
    """A place that cannot be used as a table's root."""

    code = "location-invalid"

    def __init__(self, message: str, *, hint: str, location: str) -> None:
        super().__init__(message, hint=hint)
        self.location = location


class LocationInvalidError(LocationError):
    """The text is not a path or a URL."""

    def __init__(self, *, location: str, reason: str) -> None:
        super().__init__(
            f"{location!r} is not a location: {reason}.",
            hint="Give an absolute path or a URL such as s3://bucket/table.",
            location=location,
        )


class LocationNotFoundError(LocationError):
    """Nothing exists at the location."""

    code = "location-not-found"

    def __init__(self, *, location: str) -> None:
        super().__init__(
            f"{location} does not exist.",
            hint="Check the spelling, and that the server sees this storage.",
            location=location,
        )


class LocationDeniedError(LocationError):
    """The storage refuses to let this server read."""

    code = "location-denied"

    def __init__(self, *, location: str) -> None:
        super().__init__(
            f"{location} cannot be read: permission denied.",
            hint="Give the server's user the right to list and read it.",
            location=location,
        )


class LocationNotAllowedError(LocationError):
    """The location is outside the roots that an administrator allowed."""

    code = "location-not-allowed"

    def __init__(self, *, location: str, allowed: Iterable[str] = ()) -> None:
        roots = ", ".join(allowed) or "none"
        super().__init__(
            f"{location} is outside the allowed roots.",
            hint=f"Allowed roots: {roots}. An administrator can add one "
            "(DELTAWEB_ALLOWED_ROOTS, or 'storage add' for an object store).",
            location=location,
        )


class CredentialsNeededError(LocationError):
    """The storage wants credentials that were not given, or refuses those given."""

    code = "credentials-needed"

    def __init__(self, *, location: str) -> None:
        super().__init__(
            f"{location} needs credentials, or refuses those it was given.",
            hint="Add the storage with its options (storage add), then try again.",
            location=location,
        )


class LocationUnreachableError(LocationError):
    """The storage does not answer, or breaks off."""

    code = "location-unreachable"

    def __init__(self, *, location: str, reason: str) -> None:
        super().__init__(
            f"{location} cannot be reached: {reason}.",
            hint="Check the network and the storage's address, then try again.",
            location=location,
        )


class LocationUnsupportedError(LocationError):
    """No driver is installed for this kind of location."""

    code = "location-unsupported"

    def __init__(self, *, location: str, scheme: str, package: str = "") -> None:
        wanted = f"Install the package {package}" if package else "Use another scheme"
        super().__init__(
            f"{location}: no driver here reads {scheme}:// locations.",
            hint=f"{wanted}, then try again.",
            location=location,
        )


class StorageFullError(LocationError):
    """The storage has no room for what is written."""

    code = "storage-full"

    def __init__(self, *, location: str, reason: str) -> None:
        super().__init__(
            f"{location} cannot be written: {reason}.",
            hint="Free some space, then try again; nothing was left half-written.",
            location=location,
        )


class LocationNotWritableError(LocationError):
    """The storage does not take what is written."""

    code = "location-not-writable"

    def __init__(self, *, location: str, reason: str) -> None:
        super().__init__(
            f"{location} cannot be written: {reason}.",
            hint="Give the server's user the right to write there, then try again.",
            location=location,
        )
