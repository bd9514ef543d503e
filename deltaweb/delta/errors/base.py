"""What every error of the Delta core is."""

from typing import ClassVar


class DeltaError(Exception):
    """Base of every error raised by the Delta core and its stores.

    Attributes:
        code: Stable kebab-case name; logs, API bodies and tests use it.
        message: One sentence: what, and where.
        hint: One sentence: what to do next.
    """

    code: ClassVar[str] = "delta-error"

    def __init__(self, message: str, *, hint: str) -> None:
        super().__init__(f"{message} {hint}")
        self.message = message
        self.hint = hint
