"""A certified OIDC provider (oidc-provider, of Node.js) on a free port."""

import json
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from tests.support.processes.installation import ROOT, status_of, wait_for
from tests.support.processes.node import NODE
from tests.support.processes.ports import free_port

PROGRAM = Path(__file__).parent / "provider.mjs"
MODULE = ROOT / "node_modules" / "oidc-provider"
PEOPLE_PROGRAM = ROOT / "docker" / "company" / "provider.mjs"
SECRET = "known-to-deltaweb-and-its-provider-alone"
PEOPLE = {
    "ann": {
        "groups": ["data", "ops"],
        "email": "ann@example.com",
        "email_verified": True,
    },
    "ben": {"groups": ["data"], "email": "ben@example.com", "email_verified": False},
    "eve": {"email": "eve@example.org", "email_verified": True},
}
CLIENT = ("globex-etl", "known-to-globex-and-its-issuer-alone")  # as in the program
AUDIENCE = "deltaweb"


@contextmanager
def running_provider() -> Iterator[str]:
    """Run the provider of one client, and yield its address, its name as an issuer."""
    port = free_port()
    with _running(PROGRAM, str(port), port=port) as issuer:
        yield issuer


@contextmanager
def provider_of_people(
    callback: str, logout: str, signed_out: str, *, port: int = 0
) -> Iterator[str]:
    """Run the provider of the company with `PEOPLE`, and yield its address.

    Args:
        callback: The address of deltaweb to which people return.
        logout: The address that takes logout tokens.
        signed_out: The address to which people return after signing out.
        port: The port of the provider; 0 for any free port.
    """
    port = port or free_port()
    settings = {
        "issuer": f"http://127.0.0.1:{port}",
        "address": "127.0.0.1",
        "port": port,
        "client": {
            "client_id": "deltaweb",
            "client_secret": SECRET,
            "redirect_uris": [callback],
            "post_logout_redirect_uris": [signed_out],
            "backchannel_logout_uri": logout,
            "backchannel_logout_session_required": True,
        },
        "people": PEOPLE,
    }
    with tempfile.NamedTemporaryFile("w", suffix=".json") as file:
        json.dump(settings, file)
        file.flush()
        with _running(PEOPLE_PROGRAM, file.name, port=port) as issuer:
            yield issuer


@contextmanager
def _running(program: Path, argument: str, *, port: int) -> Iterator[str]:
    assert MODULE.is_dir(), "oidc-provider is not installed: run make setup"
    issuer = f"http://127.0.0.1:{port}"
    command = [str(NODE), str(program), argument]
    process = subprocess.Popen(command, stderr=subprocess.DEVNULL)
    try:
        discovery = f"{issuer}/.well-known/openid-configuration"
        assert wait_for(lambda: status_of(discovery) == 200)
        yield issuer
    finally:
        process.terminate()
        process.wait()
