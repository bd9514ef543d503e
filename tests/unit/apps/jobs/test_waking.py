import socket
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from celery import current_app

from apps.jobs import services, waking
from apps.jobs.models import Job
from tests.factories import NOW, new_job

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def dead_broker() -> Iterator[None]:
    """A broker that has gone: nobody listens on its port any more."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    old = current_app.conf.broker_url
    current_app.conf.broker_url = f"redis://127.0.0.1:{port}/0"
    yield
    current_app.conf.broker_url = old
    waking.pause.end()


@pytest.fixture
def folder_broker(tmp_path: Path) -> Iterator[Path]:
    """An embedded broker of its own."""
    conf = current_app.conf
    old = conf.broker_url, conf.broker_transport_options
    for name in ("queue", "control"):
        (tmp_path / name).mkdir()
    conf.broker_url = "filesystem://"
    conf.broker_transport_options = {
        "data_folder_in": str(tmp_path / "queue"),
        "data_folder_out": str(tmp_path / "queue"),
        "control_folder": str(tmp_path / "control"),
    }
    yield tmp_path / "queue"
    conf.broker_url, conf.broker_transport_options = old


@pytest.mark.usefixtures("dead_broker")
class TestADeadBroker:
    def test_neither_fails_nor_hangs_the_request(self) -> None:
        started_s = time.monotonic()

        job = services.enqueue(kind="test.nothing", title="Wait", now=NOW)

        assert time.monotonic() - started_s < 2 * waking.CONNECT_TIMEOUT_S
        assert Job.objects.get(id=job.id).state == Job.State.QUEUED

    def test_is_not_knocked_at_again_at_once(self) -> None:
        waking.wake([new_job()])

        started_s = time.monotonic()
        for _ in range(50):
            assert waking.wake([new_job()]) == 0
        assert time.monotonic() - started_s < waking.CONNECT_TIMEOUT_S


class TestTheEmbeddedBroker:
    def test_gets_one_message_a_job(self, folder_broker: Path) -> None:
        job = services.enqueue(kind="test.nothing", title="Wait", now=NOW)

        (message,) = folder_broker.iterdir()
        assert str(job.id) in _body(message)

    def test_gets_none_for_a_job_that_is_there_already(
        self, folder_broker: Path
    ) -> None:
        for _ in range(3):
            services.enqueue(kind="test.nothing", title="Wait", key="k", now=NOW)

        assert len(list(folder_broker.iterdir())) == 1


def _body(message: Path) -> str:
    import base64
    import json

    return base64.b64decode(json.loads(message.read_text())["body"]).decode()
