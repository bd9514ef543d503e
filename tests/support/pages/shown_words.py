"""What a page says, whatever it is marked up with."""

import re
from html import unescape

_INLINE = re.compile(r"</?(?:a|b|bdi|code|del|em|i|ins|small|span|strong|time)\b[^>]*>")
_TAG = re.compile(r"<[^>]*>")


def words(page: str) -> str:
    """Return the text of a page, on one line."""
    return " ".join(unescape(_TAG.sub(" ", _INLINE.sub("", page))).split())
