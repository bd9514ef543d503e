"""An Azure Blob server of this machine (azurite), and containers in it."""

import itertools
import socket
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import fsspec

from tests.support.processes.installation import wait_for
from tests.support.processes.node import NODE
from tests.support.processes.ports import free_port

MODULES = Path(__file__).resolve().parents[3] / "node_modules"
SERVER = MODULES / "azurite" / "dist" / "src" / "blob" / "main.js"
ACCOUNT = "devstoreaccount1"
# The account that every azurite has; it is in its documentation.
KEY = (
    "Eby8vdM02xNOcqFlqUwJPLlmEtlCDXJ1OUzFT50uSRZ6IFsuFq2UVErCz4I6tq/K1SZFPTOtr/KBHBeks"
    "oGMGw=="
)
_numbers = itertools.count()


@dataclass(frozen=True, slots=True)
class AzureServer:
    """A running server; every container of it is new."""

    port: int

    @property
    def options(self) -> dict[str, Any]:
        """What adlfs needs to reach it."""
        endpoint = f"http://127.0.0.1:{self.port}/{ACCOUNT}"
        return {
            "connection_string": (
                f"DefaultEndpointsProtocol=http;AccountName={ACCOUNT};"
                f"AccountKey={KEY};BlobEndpoint={endpoint};"
            )
        }

    def new_container(self) -> str:
        """Make a container and return its name."""
        name = f"container-{next(_numbers)}"
        fsspec.filesystem("az", **self.options).mkdir(name)
        return name


@contextmanager
def running_azure(folder: Path) -> Iterator[AzureServer]:
    """Run a server on a free port of 127.0.0.1; it keeps nothing."""
    assert SERVER.is_file(), "azurite is not installed: run make setup"
    port = free_port()
    options = ["--silent", "--inMemoryPersistence", "--skipApiVersionCheck"]
    command = [NODE, SERVER, "--blobHost", "127.0.0.1", "--blobPort", port]
    server = subprocess.Popen(
        [*map(str, command), *options, "--disableTelemetry"],
        cwd=folder,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    try:
        wait_for(lambda: _answers(port))
        yield AzureServer(port)
    finally:
        server.terminate()
        server.wait()


def _answers(port: int) -> bool:
    with socket.socket() as probe:
        return probe.connect_ex(("127.0.0.1", port)) == 0
