"""What other apps add to Health: rules of their own, and the look of each day."""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from typing import Final

from apps.pages.registry import Registry


@dataclass(frozen=True, slots=True, kw_only=True)
class RuleWords:
    """What pages say of a rule.

    Attributes:
        title: The heading of its findings.
        about: A sentence that says why it matters.
    """

    name: str
    title: str
    about: str


rules_of_apps: Final[Registry[RuleWords]] = Registry(key=lambda rule: rule.name)
"""The rules that are not in `deltaweb.health`: those of shares and schedules."""
daily: Final[Registry[Callable[[datetime], object]]] = Registry()
"""What else is examined once a day, at a moment."""
