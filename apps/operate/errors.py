"""The errors of those who run a server."""

from typing import ClassVar

from apps.pages.errors import PageError


class SwitchNotFoundError(PageError, code="switch-not-found"):
    """No part of the server that can be switched off has this name."""

    name: str
    status = 404
    message = "{name:.80r} cannot be switched off."
    hint = "'deltaweb switch list' lists what can."


class NotRestoredError(PageError, code="not-restored"):
    """The database did not begin by a restore."""

    status = 404
    message = "This database was not restored from a backup."
    hint = "There is nothing to decide."


class RevivalUnknownError(PageError, code="revival-unknown"):
    """The name is not of a kind of things that can be revoked after a restore."""

    name: str
    known: str
    status = 422
    message = "{name:.80r} cannot be revoked after a restore."
    hint = "Name one of these: {known}."


class AuditLinesInvalidError(PageError, code="audit-lines-invalid"):
    """A file is not an audit record as JSON lines."""

    problem: str
    status = 422
    message = "The audit record cannot be compared: {problem}."
    hint = "Choose a file of JSON lines that DELTAWEB_AUDIT_LOG has written."


class SwitchedOffError(PageError, code="switched-off"):
    """An administrator switched a part of the server off.

    Attributes:
        switch: The name of the switch.
        sentence: What the administrator wrote, or the usual sentence.
    """

    switch: str
    sentence: str
    status = 503
    message = "{sentence}"
    hint = "Try again later. An administrator can switch it on again."
    retry_after_s: ClassVar[int] = 60
