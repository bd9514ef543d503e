"""Why a version is not read, in words that fit every page."""

import re
from typing import Final

# Where a reason not to read a version names the table's place and that version.
_SUBJECT: Final = re.compile(r"^.* at version \d+ (?=uses |needs )", re.DOTALL)
_OF_PLACE: Final = re.compile(r" of .* at version \d+(?=\.?$)", re.DOTALL)


def without_place(reason: str) -> str:
    """Return a reason without the table's place and the first version it is about.

    A page shows it of another version, and to people who need not know the place.
    """
    return _OF_PLACE.sub("", _SUBJECT.sub("It ", reason))
