"""A certified OIDC provider (oidc-provider, of Node.js) on a free port."""

import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.support.processes.installation import status_of, wait_for
from tests.support.processes.node import NODE
from tests.support.processes.ports import free_port

PROGRAM = Path(__file__).parent / "provider.mjs"
MODULE = Path(__file__).resolve().parents[3] / "node_modules" / "oidc-provider"
PEOPLE = PROGRAM.with_name("people.mjs")
CLIENT = ("globex-etl", "known-to-globex-and-its-issuer-alone")  # as in the program
AUDIENCE = "deltaweb"


@contextmanager
def running_provider(
    program: Path = PROGRAM, *arguments: str, port: int = 0
) -> Iterator[str]:
    """Run it, and yield its address, which is its name as an issuer.

    Args:
        port: Where it listens; 0 for any free port.
    """
    if not MODULE.is_dir():
        pytest.skip("oidc-provider is not installed: make setup")
    issuer = f"http://127.0.0.1:{port or free_port()}"
    command = [str(NODE), str(program), issuer.rpartition(":")[2], *arguments]
    process = subprocess.Popen(command, stderr=subprocess.DEVNULL)
    try:
        discovery = f"{issuer}/.well-known/openid-configuration"
        assert wait_for(lambda: status_of(discovery) == 200)
        yield issuer
    finally:
        process.terminate()
        process.wait()
