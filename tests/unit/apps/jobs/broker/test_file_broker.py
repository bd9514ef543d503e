import os
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from queue import Empty
from typing import Any

import pytest
from kombu import connection as kombu_connection
from kombu import entity

from apps.jobs.broker.file_broker import (
    FOLDER,
    LOOK_INTERVAL,
    Channel,
    Transport,
    wait_no_more,
)
from tests.support.processes.installation import wait_for

Connect = Callable[[], Any]
# kombu has few types.
Connection: Any = kombu_connection.Connection
Queue: Any = entity.Queue
Exchange: Any = entity.Exchange


@pytest.fixture
def connect(tmp_path: Path) -> Connect:
    """Opens connections to one broker, as processes of their own would."""
    (tmp_path / "queue").mkdir()
    # Without its bell a taker looks again only when nobody waits any more.
    options = {FOLDER: str(tmp_path / "queue"), LOOK_INTERVAL: 600.0}
    return lambda: Connection(transport=Transport, transport_options=options)


def take_all(connect: Connect, name: str) -> list[Any]:
    with connect() as connection:
        queue = connection.SimpleQueue(name)
        taken: list[Any] = []
        while True:
            try:
                message = queue.get(block=False)
            except Empty:
                return taken
            message.ack()
            taken.append(message.payload)


def put(connect: Connect, name: str, values: range) -> None:
    with connect() as connection:
        queue = connection.SimpleQueue(name)
        for value in values:
            queue.put({"n": value})


def test_messages_come_out_in_the_order_they_went_in(connect: Connect) -> None:
    put(connect, "default", range(5))

    assert take_all(connect, "default") == [{"n": n} for n in range(5)]


def test_queues_do_not_mix(connect: Connect) -> None:
    put(connect, "default", range(1))
    put(connect, "spark", range(1, 2))

    assert take_all(connect, "spark") == [{"n": 1}]
    assert take_all(connect, "default") == [{"n": 0}]


def test_each_message_reaches_one_of_many_takers(connect: Connect, tmp_path: Path):
    with ThreadPoolExecutor(8) as pool:
        for start in range(0, 200, 50):
            pool.submit(put, connect, "default", range(start, start + 50)).result()
        takers = [pool.submit(take_all, connect, "default") for _ in range(4)]
        taken = [message["n"] for taker in takers for message in taker.result()]

    assert sorted(taken) == list(range(200))
    assert list((tmp_path / "queue").iterdir()) == []


def test_a_message_that_a_machine_left_empty_is_dropped(connect, tmp_path):
    put(connect, "default", range(1))
    (spoilt,) = (tmp_path / "queue").glob("*.default.msg")
    put(connect, "default", range(1, 3))
    spoilt.write_bytes(b"")

    assert take_all(connect, "default") == [{"n": 1}, {"n": 2}]
    assert list((tmp_path / "queue").iterdir()) == []


def test_a_queue_tells_how_many_messages_it_has_and_is_emptied(connect: Connect):
    put(connect, "default", range(3))
    put(connect, "spark", range(1))

    with connect() as connection:
        queue = connection.SimpleQueue("default")
        assert len(queue) == 3
        assert queue.clear() == 3
    assert take_all(connect, "default") == []
    assert take_all(connect, "spark") == [{"n": 0}]


def test_a_taker_that_waits_is_woken_once_by_a_message(connect, monkeypatch):
    looks = counted_looks(monkeypatch)
    with connect() as taker, ThreadPoolExecutor(1) as pool:
        taken: list[Any] = []
        take_by(taker, "default", taken)
        waiting = pool.submit(taker.drain_events, timeout=600)
        assert wait_for(lambda: len(looks) == 1)

        put(connect, "spark", range(1))
        put(connect, "default", range(1, 2))
        waiting.result()

    assert taken == [{"n": 1}]
    assert looks == ["default"] * 2


def test_a_taker_that_was_busy_takes_the_next_as_it_is_done(connect: Connect):
    with connect() as taker, ThreadPoolExecutor(1) as pool:
        taken: list[Any] = []
        messages = take_by(taker, "default", taken, at_once=1)
        put(connect, "default", range(2))
        taker.drain_events(timeout=600)
        waiting = pool.submit(taker.drain_events, timeout=600)

        messages.pop().ack()
        waiting.result()

    assert taken == [{"n": 0}, {"n": 1}]


def test_a_taker_in_a_process_that_ends_waits_no_more(connect: Connect) -> None:
    with connect() as connection, ThreadPoolExecutor(1) as pool:
        queue = connection.SimpleQueue("default")
        waiting = pool.submit(queue.get, timeout=600)
        assert wait_for(lambda: connection.transport.bells is not None)

        wait_no_more()

        assert isinstance(waiting.exception(timeout=60), Empty)
        with pytest.raises(TimeoutError):  # Celery asks once more
            connection.drain_events(timeout=600)


def test_a_bell_that_nobody_listens_at_is_taken_away(connect: Connect, tmp_path: Path):
    bells = tmp_path / "bells"
    bells.mkdir()
    os.mkfifo(bells / "default.dead")

    put(connect, "default", range(1))

    assert list(bells.iterdir()) == []
    assert take_all(connect, "default") == [{"n": 0}]


def test_a_connection_that_closes_takes_its_bells_away(connect, tmp_path):
    with connect() as taker:
        take_by(taker, "default", [])
        with pytest.raises(TimeoutError):
            taker.drain_events(timeout=0.001)
        assert len(list((tmp_path / "bells").iterdir())) == 1

    assert list((tmp_path / "bells").iterdir()) == []


def test_where_a_disk_has_no_pipes_messages_come_all_the_same(connect, monkeypatch):
    def refuse(*_: object) -> None:
        raise PermissionError

    monkeypatch.setattr(os, "mkfifo", refuse)
    with connect() as taker, ThreadPoolExecutor(1) as pool:
        taken: list[Any] = []
        take_by(taker, "default", taken)
        waiting = pool.submit(taker.drain_events, timeout=600)
        put(connect, "default", range(1))
        waiting.result()

    assert taken == [{"n": 0}]


def take_by(taker: Connection, name: str, taken: list[Any], *, at_once: int = 0):
    """Let a connection take the messages of a queue, so many without their ack."""
    messages: list[Any] = []

    def take(payload: object, message: object) -> None:
        taken.append(payload)
        messages.append(message)

    channel = taker.channel()
    channel.basic_qos(0, at_once, apply_global=False)
    queue = Queue(name, Exchange(name), name)
    taker.Consumer(queue, channel=channel, callbacks=[take]).consume()
    return messages


def counted_looks(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The queues for which the folder is looked into, one entry a look that ended."""
    looks: list[str] = []
    look = vars(Channel)["_get"]

    def counted(channel: Channel, queue: str, timeout: float | None = None) -> object:
        try:
            return look(channel, queue, timeout)
        finally:
            looks.append(queue)

    monkeypatch.setattr(Channel, "_get", counted)
    return looks
