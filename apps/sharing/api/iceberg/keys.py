"""The keys by which this server knows the keys that it vended, and names of objects."""

from deltaweb.web.sharing.api.keys import keys_for

SESSIONS = "iceberg sessions"
OBJECTS = "iceberg objects"


def session_keys() -> list[bytes]:
    """Return the keys of vended keys; the first signs, all are accepted."""
    return keys_for(SESSIONS)


def object_keys() -> list[bytes]:
    """Return the keys of names of objects; the first seals, all are accepted."""
    return keys_for(OBJECTS)
