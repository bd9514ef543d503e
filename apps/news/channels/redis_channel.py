"""News by Redis: published once, heard by every process of every machine.

Source: redis.io, "Redis Pub/Sub": messages are for those who listen now; databases of
a server share their channels.
"""

import contextlib
from collections.abc import Iterator, Sequence
from functools import cached_property
from time import monotonic
from typing import Any, Final
from urllib.parse import urlsplit

TIMEOUT_S: Final = 1.0  # of a server that does not answer


class RedisChannel:
    """News by a Redis server.

    Args:
        url: Of the broker.
    """

    def __init__(self, url: str) -> None:
        self._url = url
        database = urlsplit(url).path.strip("/") or "0"
        self._name = f"deltaweb.news.{database}"

    def load(self) -> None:
        """Import Redis."""
        import redis  # noqa: F401, PLC0415 (most installations have none)

    def send(self, topics: Sequence[str]) -> None:
        """Publish."""
        self._client.publish(self._name, "\n".join(topics))

    @contextlib.contextmanager
    def listening(self) -> "Iterator[RedisListener]":
        """Subscribe, until the block ends."""
        with contextlib.closing(self._client.pubsub()) as subscribed:
            subscribed.subscribe(self._name)
            subscribed.get_message(timeout=TIMEOUT_S)  # the server has agreed
            yield RedisListener(subscribed)

    @cached_property
    def _client(self) -> Any:  # noqa: ANN401 (loaded when it is needed)
        import redis  # noqa: PLC0415 (most installations have none)

        return redis.Redis.from_url(
            self._url,
            socket_timeout=TIMEOUT_S,
            socket_connect_timeout=TIMEOUT_S,
            socket_keepalive=True,
        )


class RedisListener:
    """A subscription."""

    def __init__(self, subscribed: Any) -> None:  # noqa: ANN401 (redis.client.PubSub)
        self._subscribed = subscribed
        self._heard: list[str] = []  # while an answer was waited for

    def hear(self, timeout_s: float) -> Sequence[str]:
        """Return topics that were published, none when the time is over."""
        self._next(0.0 if self._heard else timeout_s)
        heard, self._heard = self._heard, []
        return heard

    def check(self) -> None:
        """Find out whether the server answers."""
        self._subscribed.ping()
        until_s = monotonic() + TIMEOUT_S
        while self._next(max(0.0, until_s - monotonic())) != "pong":
            if monotonic() >= until_s:
                raise TimeoutError

    def _next(self, timeout_s: float) -> str:
        """Take in the next message, and return its kind; "" where none comes."""
        message = self._subscribed.get_message(timeout=timeout_s)
        if message is None:
            return ""
        if message["type"] == "message":
            self._heard += message["data"].decode("ascii", "replace").split()
        kind: str = message["type"]
        return kind
