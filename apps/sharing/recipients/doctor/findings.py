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
        step: The step of the examination.
        verdict: The result of the step.
        subject: The host, token or table that was examined.
        fact: The finding as a sentence.
        advice: What to do; empty if nothing is wrong.
    """

    step: Step
    verdict: Verdict
    subject: str
    fact: str
    advice: str = ""
