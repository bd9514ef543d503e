"""What one step of an examination found."""

from dataclasses import dataclass
from enum import StrEnum

from deltaweb.sharing.client_errors import Step


class Verdict(StrEnum):
    """How a step ended."""

    OK = "ok"
    WARNING = "warning"
    FAILED = "failed"
    NOT_CHECKED = "not checked"


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """What a step found.

    Attributes:
        step: The step.
        verdict: How it ended.
        subject: What was looked at: a host, a token, a table.
        fact: What was found, as a sentence.
        advice: What to do; "" where nothing is.
    """

    step: Step
    verdict: Verdict
    subject: str
    fact: str
    advice: str = ""
