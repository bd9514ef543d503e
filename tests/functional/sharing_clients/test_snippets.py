"""What the activation page tells people to run does run."""

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from apps.sharing.snippets import TableName, snippets
from tests.functional.sharing_clients.conftest import SHARE, Shared
from tests.installation import Installation


@pytest.fixture
def code(
    server: Installation, profile: Path, tables: dict[str, Shared]
) -> dict[str, str]:
    """The snippets of a recipient who reads the sample orders."""
    shared = tables["orders"]
    made = snippets(
        endpoint=f"{server.url}/delta-sharing/",
        profile_file_name=profile.name,
        tables=[TableName(share=SHARE, schema=shared.schema, name=shared.name)],
    )
    return {snippet.key: snippet.text for snippet in made}


@pytest.mark.parametrize("tool", ["pandas", "polars"])
def test_python_reads_the_first_rows(
    tool: str, code: dict[str, str], profile: Path
) -> None:
    # A notebook shows the value of a cell's last line; a script has to print it.
    script = f"{code[tool]}\nprint(orders.head(), orders.shape)"

    done = subprocess.run(
        [sys.executable, "-c", script],
        cwd=profile.parent,
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )

    assert done.returncode == 0, done.stderr
    assert "order_id" in done.stdout


@pytest.mark.skipif(
    not (shutil.which("curl") and shutil.which("jq")), reason="needs curl and jq"
)
def test_curl_lists_the_tables_and_the_columns(
    code: dict[str, str], profile: Path
) -> None:
    done = subprocess.run(
        ["sh", "-c", code["curl"]],
        cwd=profile.parent,
        capture_output=True,
        text=True,
        check=True,
        timeout=120,
    )

    assert '"name":"orders"' in done.stdout.replace(" ", "")
    assert "schemaString" in done.stdout
