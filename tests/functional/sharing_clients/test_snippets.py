"""What the activation page tells people to run does run."""

import json
import subprocess
import warnings
from contextlib import chdir
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from apps.explorer.use.snippets import view_snippets
from apps.explorer.use.snippets.sharing_code import PROFILE
from apps.sharing.clients.snippets import TableName, snippets
from tests.functional.sharing_clients.conftest import SHARE, Shared
from tests.support import cases
from tests.support.pages.shown_views import expected_rows, shown_view
from tests.support.processes.installation import Installation


@pytest.fixture
def code(server: Installation, profile: Path, tables: dict[str, Shared]):
    """The snippets of a recipient who reads the sample customers."""
    shared = tables["customers"]
    made = snippets(
        endpoint=f"{server.url}/delta-sharing/",
        profile_file_name=profile.name,
        tables=[TableName(share=SHARE, schema=shared.schema, name=shared.name)],
    )
    return {snippet.key: snippet.text for snippet in made}


def ran(text: str, profile: Path) -> dict[str, Any]:
    """Run a whole script beside a profile; return what it leaves.

    It is in this process, which has what it imports: its names are its own.
    """
    there: dict[str, Any] = {}
    with chdir(profile.parent), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        exec(text, there)  # noqa: S102 (what the page shows)
    return there


@pytest.mark.parametrize("tool", ["pandas", "polars"])
def test_python_reads_the_first_rows(tool, code, profile, tables) -> None:
    there = ran(code[tool], profile)

    own = tables["customers"].table.snapshot()
    assert list(there["customers"].columns) == list(own.schema.names)
    assert 0 < len(there["customers"]) <= own.read().num_rows


def test_curl_lists_the_tables_and_the_columns(code: dict[str, str], profile: Path):
    done = subprocess.run(
        ["sh", "-c", code["curl"]],
        cwd=profile.parent,
        capture_output=True,
        text=True,
        check=True,
        timeout=120,
    )

    assert '"name":"customers"' in done.stdout.replace(" ", "")
    assert "schemaString" in done.stdout


@cases(
    "filters",
    {
        "all rows": (),
        "numbers and a date": (
            "customer_id:ge:1",
            "items:le:2",
            "order_date:gt:2020-01-01",
        ),
        "a decimal, a text and a time": (
            "amount:gt:100.5",
            "country:eq:DE",
            "placed_at:ge:2020-01-01T00:00:00Z",
        ),
    },
)
def test_a_view_of_a_shared_table_reads_the_rows_of_the_page(tables, profile, filters):
    shared = tables["orders"]
    columns = ("order_id", "country")
    location = shared.table.store.root
    view = shown_view(location, *filters, columns=columns, version=2)
    view = replace(view, shared_as=f"{SHARE}.{shared.schema}.{shared.name}")
    code = {made.key: made.text for made in view_snippets(view)}["sharing"]
    there = ran(code.replace(PROFILE, profile.name), profile)

    read = json.loads(there["orders"].to_json(orient="records"))
    assert sorted(read, key=repr) == expected_rows(view)
    assert read
