"""What a rule found in a table: its evidence, what it costs, and the remedy."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from typing import Any, Final

from deltaweb.words import bytes_text, counted, length_text

BYTES: Final = "bytes"
SECONDS: Final = "s"
PERCENT: Final = "%"
_DIGITS: Final = 2
_UNITS_S: Final = (86_400, 3_600, 60)


class Severity(StrEnum):
    """What a finding means to the readers of a table, the worst first."""

    ACT_NOW = "act-now"
    COSTS = "costs"
    TO_KNOW = "to-know"

    @property
    def rank(self) -> int:
        """The place in a list: 0 comes first."""
        return [*Severity].index(self)


def about_bytes(size_bytes: float) -> str:
    """Return a size in two digits, such as `3 KiB` or `252 KiB`."""
    return bytes_text(size_bytes, digits=_DIGITS)


def about_length(seconds: float) -> str:
    """Return a length of time in its largest unit, such as `12 days`."""
    unit = next((unit for unit in _UNITS_S if seconds >= unit), 1)
    return length_text(max(round(seconds / unit), 1) * unit)


def amount_text(amount: float | str, unit: str) -> str:
    """Return an amount with its unit, such as `3.2 TiB`, `83 files` or `41 %`."""
    if isinstance(amount, str):
        return amount
    if unit == BYTES:
        return about_bytes(amount)
    if unit == SECONDS:
        return about_length(amount)
    if unit == PERCENT:
        return f"{amount:,.0f} %"
    if unit.endswith("s"):
        return counted(round(amount), unit.removesuffix("s"))
    return f"{amount:,} {unit}".rstrip()


@dataclass(frozen=True, slots=True)
class Fact:
    """A piece of evidence.

    Attributes:
        unit: `bytes`, `s`, `%`, or the plural of what is counted, such as `files`; ""
            for a text.
    """

    label: str
    value: float | str
    unit: str = ""

    @property
    def text(self) -> str:
        """The value with its unit."""
        return amount_text(self.value, self.unit)


@dataclass(frozen=True, slots=True)
class Cost:
    """What a finding costs.

    Attributes:
        unit: As that of a fact.
        about: A few words that complete the amount, such as "opened for each full
            scan".
    """

    amount: float
    unit: str
    about: str

    @property
    def text(self) -> str:
        """The amount with its unit."""
        return amount_text(self.amount, self.unit)


@dataclass(frozen=True, slots=True, kw_only=True)
class HealthRemedy:
    """The page that puts a finding right, with its choices filled in.

    Attributes:
        operation: The name of a page in the address of the table, such as `optimize`.
        label: The text of the button.
        parameters: The choices, by the names that the page's form has for them.
        command: The equivalent command; "" if there is none.
    """

    operation: str
    label: str
    parameters: Mapping[str, str] = field(default_factory=dict)
    command: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """What one rule found about one subject of a table.

    Attributes:
        rule: The name of the rule.
        subject: What of the table it is about, such as a column; "" for the table.
        sentence: The fact with its numbers, without the name of the table.
        since: When it began; None if the facts do not say.
    """

    rule: str
    subject: str = ""
    severity: Severity
    sentence: str
    evidence: tuple[Fact, ...] = ()
    cost: Cost | None = None
    remedy: HealthRemedy | None = None
    since: datetime | None = None

    @property
    def key(self) -> str:
        """The name of the finding within its table, the same each time."""
        return f"{self.rule}:{self.subject}" if self.subject else self.rule

    def to_json(self) -> dict[str, Any]:
        """Return the finding as JSON values."""
        cost, remedy = self.cost, self.remedy
        return {
            "rule": self.rule,
            "severity": self.severity.value,
            "sentence": self.sentence,
            "evidence": [
                {"label": fact.label, "value": fact.value, "unit": fact.unit}
                for fact in self.evidence
            ],
            "cost": cost
            and {"amount": cost.amount, "unit": cost.unit, "about": cost.about},
            "remedy": remedy
            and {
                "operation": remedy.operation,
                "label": remedy.label,
                "parameters": dict(remedy.parameters),
                "command": remedy.command,
            },
            "since": self.since and self.since.isoformat(),
        }
