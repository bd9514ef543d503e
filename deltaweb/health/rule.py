"""A rule: a name, a text, and a function from facts to findings."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import datetime
from typing import TypeAlias

from deltaweb.health.facts import HealthFacts
from deltaweb.health.finding import Finding, Severity
from deltaweb.health.thresholds import Thresholds

Find: TypeAlias = Callable[[HealthFacts, Thresholds, datetime], Iterator[Finding]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Rule:
    """A rule about a table.

    Attributes:
        name: In JSON and addresses, such as `small-files`.
        title: The heading of its findings.
        about: A sentence that says why it matters.
        advice: A sentence that says what to do about a finding.
        severities: Those that its findings can have, the worst first.
        thresholds: The fields of `Thresholds` that it uses.
        find: Yields what it found; nothing if the facts do not say.
    """

    name: str
    title: str
    about: str
    advice: str
    severities: tuple[Severity, ...]
    thresholds: tuple[str, ...] = ()
    find: Find
