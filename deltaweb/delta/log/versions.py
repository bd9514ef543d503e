"""The versions of a table as runs of one state: whether they can still be read."""

from collections.abc import Callable, Iterable
from operator import itemgetter
from typing import Final, NamedTuple

READABLE: Final = "READABLE"
PARTLY: Final = "PARTLY"
FILES_GONE: Final = "FILES_GONE"  # the log builds it, and none of its files is left
GONE: Final = "GONE"  # the log no longer reaches it
UNSUPPORTED: Final = "UNSUPPORTED"  # asks for a feature that is not read
OF_FILES: Final = frozenset({PARTLY, FILES_GONE})  # what is said of a version's files
WORST_FIRST: Final = (GONE, FILES_GONE, UNSUPPORTED, PARTLY, READABLE)


class ReadableRun(NamedTuple):
    """Versions `first` to `last` of one state, as the summary of an index has them."""

    first: int
    last: int
    state: str
    reason: str = ""


def joined(
    runs: Iterable[ReadableRun],
    *,
    by: Callable[[ReadableRun], object] = itemgetter(slice(2, None)),
) -> list[ReadableRun]:
    """Return ascending runs with neighbours as one that are alike.

    Args:
        by: What is compared; state and reason by default.
    """
    result: list[ReadableRun] = []
    for run in runs:
        before = result[-1] if result else None
        if before and before.last + 1 == run.first and by(before) == by(run):
            result[-1] = before._replace(last=run.last)
        else:
            result.append(run)
    return result
