"""Which channel an installation has."""

from functools import cache
from pathlib import Path

from django.conf import settings
from django.db import connection

from apps.news.channels.channel import Channel
from apps.news.channels.pipes import PipeChannel
from apps.news.channels.postgres import PostgresChannel
from apps.news.channels.redis_channel import RedisChannel


def load() -> None:
    """Import what the first news of this process would wait for."""
    channel().load()


@cache
def channel() -> Channel:
    """Return the channel of this installation.

    A broker that every process knows comes first, then the database. Without either
    all processes are on the machine that has the SQLite file.
    """
    if settings.BROKER_URL.startswith(("redis://", "rediss://")):
        return RedisChannel(settings.BROKER_URL)
    if connection.vendor == "postgresql":
        return PostgresChannel()
    return PipeChannel(Path(settings.HOME) / "news")
