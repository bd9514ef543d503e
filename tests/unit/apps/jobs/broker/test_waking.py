import socket
from collections.abc import Iterator
from pathlib import Path
from typing import ClassVar

import pytest

from apps.jobs import services
from apps.jobs.broker import file_broker, waking
from apps.jobs.models import Job
from deltaweb.celery import app
from tests.support.pages.factories import NOW, new_job

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.database]


@pytest.fixture
def dead_broker() -> Iterator[socket.socket]:
    """The port of a broker that has gone: it is taken, and nobody listens there."""
    old = app.conf.broker_url, app.conf.broker_transport
    app.conf.broker_transport = None
    with socket.socket() as place:
        place.bind(("127.0.0.1", 0))
        port = place.getsockname()[1]
        app.conf.broker_url = f"redis://127.0.0.1:{port}/0"
        yield place
    app.conf.broker_url, app.conf.broker_transport = old
    waking.pause.end()


@pytest.fixture
def folder_broker(tmp_path: Path) -> Iterator[Path]:
    """An embedded broker of its own."""
    conf = app.conf
    old = conf.broker_url, conf.broker_transport, conf.broker_transport_options
    (tmp_path / "queue").mkdir()
    conf.broker_url = "filesystem://"
    conf.broker_transport = "apps.jobs.broker.file_broker:Transport"
    conf.broker_transport_options = {"folder": str(tmp_path / "queue")}
    yield tmp_path / "queue"
    conf.broker_url, conf.broker_transport, conf.broker_transport_options = old


class TestADeadBroker:
    @pytest.mark.timeout(60)  # it would knock for ever
    @pytest.mark.usefixtures("dead_broker")
    def test_neither_fails_nor_hangs_the_request(self) -> None:
        job = services.enqueue(kind="test.nothing", title="Wait", now=NOW)

        assert Job.objects.get(id=job.id).state == Job.State.QUEUED

    def test_is_not_knocked_at_again_at_once(self, dead_broker, monkeypatch):
        monkeypatch.setattr(waking, "PAUSE_AFTER_FAILURE_S", 3600)
        waking.wake([new_job()])
        dead_broker.listen()
        dead_broker.settimeout(0)

        assert [waking.wake([new_job()]) for _ in range(50)] == [0] * 50
        with pytest.raises(BlockingIOError):
            dead_broker.accept()


class TestTheEmbeddedBroker:
    def test_gets_one_message_a_job(self, folder_broker: Path) -> None:
        job = services.enqueue(kind="test.nothing", title="Wait", now=NOW)

        (message,) = folder_broker.iterdir()
        assert str(job.id) in _body(message)

    def test_gets_none_for_a_job_that_is_there_already(self, folder_broker: Path):
        for _ in range(3):
            services.enqueue(kind="test.nothing", title="Wait", key="k", now=NOW)

        assert len(list(folder_broker.iterdir())) == 1

    def test_gets_the_queue_of_a_look_that_has_turned_out_to_need_spark(
        self, folder_broker: Path
    ) -> None:
        job = new_job(kind="tables.diff_rows")
        waking.wake([job])
        waking.wake([job], on_to="spark")

        look, work = sorted(folder_broker.iterdir())
        assert look.name.endswith(".interactive.msg")
        assert work.name.endswith(".spark.msg")
        assert '"is_handed_on": false' in _body(look)
        assert '"is_handed_on": true' in _body(work)

    def test_is_connected_with_once_for_wake_ups_that_follow(
        self, folder_broker: Path, connections: list["CuttableTransport"]
    ) -> None:
        sent = [waking.wake([new_job(), new_job()]), waking.wake([new_job()])]

        assert sent == [2, 1]
        assert len(connections) == 1
        assert len(list(folder_broker.iterdir())) == 3

    def test_is_connected_with_again_where_the_connection_was_cut(
        self, folder_broker: Path, connections: list["CuttableTransport"]
    ) -> None:
        waking.wake([new_job()])
        connections[0].is_cut = True

        assert waking.wake([new_job(), new_job()]) == 2
        assert len(connections) == 2
        assert len(list(folder_broker.iterdir())) == 3


class CuttableChannel(file_broker.Channel):
    """A channel that breaks with its connection."""

    def _put(self, queue: str, message: dict[str, object], **named: object) -> None:
        if self.connection.is_cut:
            raise ConnectionResetError
        super()._put(queue, message, **named)


class CuttableTransport(file_broker.Transport):
    """The embedded broker, whose connections are known and may be cut."""

    Channel = CuttableChannel
    made: ClassVar[list["CuttableTransport"]] = []
    is_cut = False

    def establish_connection(self):
        self.made.append(self)
        return super().establish_connection()


@pytest.fixture
def connections(folder_broker: Path) -> list[CuttableTransport]:
    assert folder_broker.is_dir()
    app.conf.broker_transport = f"{__name__}:CuttableTransport"
    CuttableTransport.made.clear()
    return CuttableTransport.made


def _body(message: Path) -> str:
    import base64
    import json

    return base64.b64decode(json.loads(message.read_text())["body"]).decode()
