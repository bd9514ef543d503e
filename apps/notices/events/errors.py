"""Why events cannot be read."""

from collections.abc import Mapping
from types import MappingProxyType

from apps.pages.errors import PageError


class CursorGoneError(PageError, code="cursor-gone"):
    """A cursor of before a restore, or of events that are no longer kept.

    Attributes:
        begin: The cursor to go on with.
        reason: Why the cursor is not valid, as a clause.
    """

    begin: str
    reason: str
    facts: Mapping[str, object] = MappingProxyType({})
    status = 410
    message = "The cursor is no longer valid: {reason}."
    hint = "Continue with after={begin}, and read the tables that you follow once."
