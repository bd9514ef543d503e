"""OAuth as the Python client does it, with profiles that we wrote or described."""

import json
from collections.abc import Iterator
from pathlib import Path

import delta_sharing
import pytest
import requests
from joserfc.jwk import ECKey, RSAKey

from tests.functional.sharing_clients.conftest import SHARE, Shared
from tests.functional.sharing_clients.rows import of_frame, of_table
from tests.support import cases
from tests.support.oauth_tokens import public_pem
from tests.support.oidc.running import AUDIENCE, CLIENT, running_provider
from tests.support.processes.installation import Installation

TABLE = f"{SHARE}.data.returns"


@pytest.fixture(scope="module")
def umbrella(server: Installation, tables: dict[str, Shared]) -> str:
    """A recipient who may read the share, with a token that nobody has fetched."""
    assert "returns" in tables
    server.command("recipient", "create", "umbrella", "--share", SHARE)
    return "umbrella"


@pytest.fixture(scope="module")
def provider() -> Iterator[str]:
    with running_provider() as issuer:
        yield issuer


def reads(profile: Path, tables: dict[str, Shared]) -> None:
    """Hold what the client reads by a profile against the table itself."""
    frame = delta_sharing.load_as_pandas(f"{profile}#{TABLE}")
    assert of_frame(frame) == of_table(tables["returns"].table.snapshot().read())


def test_reads_by_client_and_secret(server, umbrella, tables):
    profile = server.home / "secret.share"
    server.command("recipient", "add-client", umbrella, "--profile", str(profile))

    reads(profile, tables)


@cases("key", {"RSA": RSAKey.generate_key(2048), "P-256": ECKey.generate_key("P-256")})
def test_reads_by_a_private_key_that_never_left(
    server, umbrella, tables, tmp_path, key
):
    public, private = tmp_path / "public.pem", tmp_path / "private.pem"
    public.write_text(public_pem(key))
    private.write_bytes(key.as_pem(private=True))
    profile = tmp_path / "key.share"
    server.command(
        *("recipient", "add-client", umbrella, "--public-key", str(public)),
        *("--profile", str(profile)),
    )
    written = profile.read_text()
    assert "private_key.pem" in written
    profile.write_text(written.replace("private_key.pem", str(private)))

    reads(profile, tables)


@pytest.fixture(scope="module")
def identity(server: Installation, umbrella: str, provider: str) -> Path:
    """The profile of a recipient whom a certified provider vouches for."""
    profile = server.home / "identity.share"
    server.command(
        *("recipient", "add-client", umbrella, "--issuer", provider),
        *("--audience", AUDIENCE, "--subject", CLIENT[0], "--profile", str(profile)),
    )
    document = json.loads(profile.read_text())
    own = {"tokenEndpoint": f"{provider}/token"}
    own |= dict(zip(("clientId", "clientSecret"), CLIENT, strict=True))
    assert {document[name] for name in own} == {"<your own>"}
    profile.write_text(json.dumps(document | own))
    return profile


def test_reads_by_the_tokens_of_a_certified_provider(identity, tables):
    reads(identity, tables)


def test_reads_no_more_once_the_identity_is_revoked(server, umbrella, identity):
    client = delta_sharing.SharingClient(str(identity))
    assert [share.name for share in client.list_shares()] == [SHARE]
    shown = json.loads(server.command("recipient", "show", umbrella, "--json"))
    (prefix,) = (t["prefix"] for t in shown["tokens"] if t["kind"] == "federated")

    server.command("recipient", "revoke", umbrella, "--token", prefix, "--yes")

    with pytest.raises(requests.HTTPError, match="401"):
        client.list_shares()
