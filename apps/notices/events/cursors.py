"""Cursors: the place of a reader in the stream of events, as an opaque text."""

import re
from typing import Final

from apps.notices.events.errors import CursorGoneError
from apps.notices.models import EventSequence
from apps.pages.request.parameters import QueryError

NOW: Final = "now"
_CURSOR: Final = re.compile(r"([0-9a-f]{8})-(\d{1,18})", re.ASCII)
_RESTORED: Final = "the database was restored since"


def cursor_text(sequence: EventSequence, number: int) -> str:
    """Return the cursor of a reader who has seen the events up to a number."""
    return f"{sequence.epoch}-{number}"


def number_of_cursor(sequence: EventSequence, text: str) -> int:
    """Return the number that a cursor stands for.

    Args:
        text: A cursor; "" for the oldest kept event, `now` for what comes next.

    Raises:
        CursorGoneError: If events after it were removed, or are unknown.
        QueryError: If it is not a cursor.
    """
    if not text:
        return sequence.pruned_to
    if text == NOW:
        return sequence.last_number
    found = _CURSOR.fullmatch(text)
    if found is None:
        raise QueryError(part="after", expected="the 'next' of an earlier answer")
    epoch, number = found[1], int(found[2])
    if epoch != sequence.epoch:
        known = sequence.former.get(epoch)
        begin = sequence.pruned_to if known is None else min(known, number)
        raise _gone(sequence, begin, _RESTORED)
    if number > sequence.last_number:
        raise _gone(sequence, sequence.last_number, _RESTORED)
    check_kept(sequence, number)
    return number


def check_kept(sequence: EventSequence, number: int) -> None:
    """Check that no event after a number was removed.

    Raises:
        CursorGoneError: If one was.
    """
    if number < sequence.pruned_to:
        raise _gone(sequence, number, "older events are no longer kept")


def _gone(sequence: EventSequence, number: int, reason: str) -> CursorGoneError:
    begin = cursor_text(sequence, max(number, sequence.pruned_to))
    return CursorGoneError(begin=begin, reason=reason, facts={"begin": begin})
