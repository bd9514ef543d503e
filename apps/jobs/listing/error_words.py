"""What went wrong with a job, without where the server keeps its files."""

import re
from typing import Final

from apps.jobs.visibility import SubjectLink

_PLACE: Final = re.compile(
    r"(?<![\w./:-])(?:[a-z][a-z0-9+.-]*://|/)(?:[^\s'\"]*/)?(?P<name>[^\s/'\"]+)"
)


def without_places(text: str, subject: SubjectLink | None) -> str:
    """Name files by their last part, and a subject's place by the subject's name.

    A person reads the name of a file; its folders tell a viewer of the server's disk,
    and a log path of twenty digits leaves no room for what is wrong.
    """
    if subject is not None and subject.place:
        place = re.escape(subject.place.rstrip("/"))
        inside = re.compile(place + r"(?:/(?P<name>[^\s'\"]*))?(?![\w-])")
        text = inside.sub(lambda found: _last(found["name"]) or subject.label, text)
    return _PLACE.sub(lambda found: found["name"], text)


def _last(path: str | None) -> str:
    return (path or "").rstrip("/").rpartition("/")[2]
