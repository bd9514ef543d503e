"""Whether a client reads a table, by the features that a reader of it must know.

A client refuses by the names in the protocol: a feature that is allowed and unused
counts like any other.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from deltaweb.delta.features.known.clients import Answer, Support

_NUMBER: Final = re.compile(r"[0-9]+")


@dataclass(frozen=True, slots=True)
class ClientVerdict:
    """Whether a client reads a table.

    Attributes:
        decided_by: The feature that decides; "" where none does.
        release: The first release that reads the table; "" where that is not known,
            or where any does.
    """

    answer: Answer
    decided_by: str = ""
    release: str = ""


def client_verdict(
    features: Sequence[str], supports: Mapping[str, Support]
) -> ClientVerdict:
    """Return whether a client reads a table with these features."""
    for answer in (Answer.CANNOT, Answer.UNKNOWN):
        for name in features:
            if supports[name].answer is answer:
                return ClientVerdict(answer, name)
    if undated := next((name for name in features if not supports[name].release), ""):
        return ClientVerdict(Answer.READS, undated)
    newest = max(
        features, key=lambda name: release_order(supports[name].release), default=""
    )
    return ClientVerdict(
        Answer.READS, newest, supports[newest].release if newest else ""
    )


def release_order(release: str) -> tuple[int, ...]:
    """Return the numbers of a release, which order it among others."""
    return tuple(int(number) for number in _NUMBER.findall(release))
