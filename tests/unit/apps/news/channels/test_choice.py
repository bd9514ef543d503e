"""The channel of the installation under test: pipes; a Redis server, and PostgreSQL."""

import os
from collections.abc import Iterator

import pytest
from django.db import connection

from apps.news.channels.channel import Channel
from apps.news.channels.choice import channel
from apps.news.channels.pipes import PipeChannel
from apps.news.channels.postgres import PostgresChannel
from apps.news.channels.redis_channel import RedisChannel

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.database]


@pytest.fixture(params=[PipeChannel, RedisChannel, PostgresChannel])
def way(request: pytest.FixtureRequest) -> Iterator[Channel]:
    """Each channel that this installation could have."""
    if request.param is PostgresChannel:
        if connection.vendor != "postgresql":
            pytest.skip("only where the database is PostgreSQL")
        yield PostgresChannel()
    elif request.param is RedisChannel:
        url = os.environ.get("DELTAWEB_BROKER_URL", "")
        if not url.startswith("redis:"):
            pytest.skip("only where the broker is Redis")
        yield RedisChannel(url)
    else:
        folder = request.getfixturevalue("tmp_path")
        yield PipeChannel(folder)


def test_takes_topics_from_one_end_to_the_other(way: Channel) -> None:
    with way.listening() as listener:
        way.send(["job:1", "jobs"])
        found: list[str] = []
        while len(found) < 2:
            found += listener.hear(1.0)
        listener.check()

        assert found == ["job:1", "jobs"]


def test_is_that_of_the_broker_then_of_the_database() -> None:
    is_redis = os.environ.get("DELTAWEB_BROKER_URL", "").startswith("redis:")
    postgres = PostgresChannel if connection.vendor == "postgresql" else PipeChannel

    assert isinstance(channel(), RedisChannel if is_redis else postgres)
