"""What pages wait for, and how it is known whether it has moved on.

A topic is a word, or a word and an id: `jobs`, `job:<id>`. News are topics and nothing
else: a page that hears one asks for its own part, with its own rights. An app registers
what it has, in `AppConfig.ready`:

    topics.topics.register(Topic("job", revision=job_revision))

A page names each topic with the revision that it was rendered with, so that what
happens before it is listened to is not missed.
"""

import zlib
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Final

from apps.pages.registry import Registry

NEVER: Final = ""  # the revision of what is no more, or was never there


@dataclass(frozen=True, slots=True, kw_only=True)
class Topic:
    """One kind of topic.

    Attributes:
        word: What its topics begin with.
        revision: Of what an id names, for a user: it is another one once that has moved
            on. None where the user may not know of it.
        pace_s: How far apart two pieces of news of one topic are at least: those
            between are one.
    """

    word: str
    revision: Callable[[Any, str], str | None]
    pace_s: float = 0.0


topics: Registry[Topic] = Registry(key=lambda topic: topic.word)


def of_user(user_id: object) -> str:
    """Name what ends all that a user listens to."""
    return f"user:{user_id}"


def of_session(session_key: str | None) -> str:
    """Name what ends all that a session listens to; its key is told to nobody."""
    return f"session:{revision_of_values(session_key)}" if session_key else ""


def revision_of_values(*values: object) -> str:
    """Return a short name of values, another one for others."""
    text = "\x1f".join(map(str, values))
    return f"{zlib.crc32(text.encode()):08x}"


def revision(user: object, topic: str) -> str | None:
    """Return the revision of a topic; None where the user may not know of it."""
    word, _, key = topic.partition(":")
    kind = _kind(word)
    return None if kind is None else kind.revision(user, key)


def pace_s(topic: str) -> float:
    """Return how far apart two pieces of news of a topic are at least."""
    kind = _kind(topic.partition(":")[0])
    return 0.0 if kind is None else kind.pace_s


def _kind(word: str) -> Topic | None:
    return next((topic for topic in topics if topic.word == word), None)
