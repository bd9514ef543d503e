"""Who commits, and when: said once for all that a block of code writes.

A commit, its files and its checkpoint take their time from one clock, and the commit
the name of who asked for it. Without anything said, that is now, and nobody.

Source: delta_protocol.md, "Commit Provenance Information".
"""

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Final


@dataclass(frozen=True, slots=True)
class Authorship:
    """Who writes, and when.

    Attributes:
        user_name: Who asked for it; None where the transaction says, or nobody does.
    """

    user_name: str | None = None
    at: datetime | None = None


NOBODY: Final = Authorship()
_current: Final = ContextVar("authorship", default=NOBODY)


@contextmanager
def authored(
    user_name: str | None = None, *, at: datetime | None = None
) -> Iterator[None]:
    """Let commits within be by somebody, or of another time.

    It holds for this thread, and for the checkpoints that its commits begin.
    """
    token = _current.set(Authorship(user_name, at))
    try:
        yield
    finally:
        _current.reset(token)


def author() -> str | None:
    """Return who commits, if that was said."""
    return _current.get().user_name


def now() -> datetime:
    """Return the time of what is written; aware."""
    return _current.get().at or datetime.now(UTC)


def now_ms() -> int:
    """Return the time of what is written, in milliseconds since the Unix epoch."""
    return int(now().timestamp() * 1_000)
