"""The errors of those who run a server."""

from typing import ClassVar

from apps.pages.errors import PageError


class SwitchNotFoundError(PageError, code="switch-not-found"):
    """No part of the server that can be switched off has this name."""

    name: str
    status = 404
    message = "{name:.80r} cannot be switched off."
    hint = "'deltaweb switch list' lists what can."


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
