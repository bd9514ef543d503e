"""JSON from outside, to a depth that all code behind it can follow.

How deep Python's own parser goes depends on its release: 1,000 levels in 3.11, and ten
times as many or more in later ones. What handles the values afterwards calls itself for
each level, and fails at 1,000 levels in all of them.
"""

import json
import re
from itertools import accumulate
from typing import Any, Final

MAX_DEPTH: Final = 500
_STEPS: Final = {"[": 1, "{": 1, "]": -1, "}": -1}
_STRING = re.compile(r'"[^"\\]*+(?:\\.[^"\\]*+)*+"?', re.DOTALL)
_OTHER = re.compile(r"[^][{}]+")


def parse_json(text: str | bytes, **options: Any) -> Any:  # noqa: ANN401 (any JSON)
    """Parse a text as `json.loads` does.

    Args:
        text: From outside: a log, a file, a request, an answer of a server.
        options: Those of `json.loads`.

    Raises:
        RecursionError: It nests deeper than `MAX_DEPTH`.
        ValueError: It is no JSON.
    """
    if nests_too_deeply(text):
        message = f"JSON nests deeper than {MAX_DEPTH} levels"
        raise RecursionError(message)
    return json.loads(text, **options)


def nests_too_deeply(text: str | bytes) -> bool:
    """Return whether a text has lists and objects in more levels than `MAX_DEPTH`.

    Almost every text has fewer brackets than that, and is not looked at more closely.
    """
    if isinstance(text, str):
        if text.count("[") + text.count("{") <= MAX_DEPTH:
            return False
    elif text.count(b"[") + text.count(b"{") <= MAX_DEPTH:
        return False
    else:
        text = text.decode(json.detect_encoding(text), "replace")
    brackets = _OTHER.sub("", _STRING.sub("", text))
    return max(accumulate(map(_STEPS.__getitem__, brackets)), default=0) > MAX_DEPTH
