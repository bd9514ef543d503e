"""What other apps add to Health: rules of their own, and the look of each day."""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from typing import Final

from apps.pages.registry import Registry


@dataclass(frozen=True, slots=True, kw_only=True)
class HealthRule:
    """A rule.

    Attributes:
        title: The heading of its findings.
        about: Why it matters.
        advice: What to do about a finding.
    """

    name: str
    title: str
    about: str
    advice: str


rules_of_apps: Final[Registry[HealthRule]] = Registry(key=lambda rule: rule.name)
"""The rules that are not in `deltaweb.health`: those of shares and schedules."""
daily: Final[Registry[Callable[[datetime], object]]] = Registry()
"""What else is examined once a day, at a moment."""
