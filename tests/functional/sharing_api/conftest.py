"""A table of real files in a share, and recipients who call."""

from collections.abc import Callable
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from django.test import Client
from django.utils import timezone
from pytest_django import Settings

from apps.sharing.models import Share
from deltaweb.table import DeltaTable
from tests.functional.sharing_api.calls import Caller, Lake, write_lake
from tests.functional.sharing_api.plain_client import NewPlainShare
from tests.functional.sharing_api.ruled import Ruled
from tests.support.pages.factories import (
    new_grant,
    new_recipient,
    new_share,
    new_shared_table,
    new_table,
    new_token,
)

NewCaller = Callable[..., Caller]


@pytest.fixture(autouse=True)
def _rates(tmp_path: Path, settings: Settings) -> None:
    """Every test has buckets of its own."""
    settings.HOME = tmp_path


@pytest.fixture(scope="session")
def written_lake(tmp_path_factory: pytest.TempPathFactory) -> Lake:
    """Versions 0 to 3 of a table, to be copied."""
    return write_lake(tmp_path_factory.mktemp("written") / "orders")


@pytest.fixture
def lake(db: None, written_lake: Lake, tmp_path: Path) -> Lake:  # noqa: ARG001 (a database)
    """The table `crm.Orders` of the share `Sales`, versions 0 to 3."""
    root = tmp_path / "lake" / "orders"
    table = new_table("crm.orders", location=str(root))
    shared = new_shared_table(new_share("Sales"), "crm.Orders", table=table)
    return written_lake.copied_to(root, shared)


def caller_of(name: str, *shares: Share, **fields: Any) -> Caller:  # noqa: ANN401 (columns)
    """Make a recipient with a token and shares that they may read."""
    recipient = new_recipient(name, **fields)
    for share in shares:
        new_grant(share, recipient)
    tomorrow = timezone.now() + timedelta(days=1)
    return Caller(*new_token(recipient, expires_at=tomorrow))


@pytest.fixture
def new_caller(db: None) -> NewCaller:  # noqa: ARG001 (a database)
    """Recipients with a token and shares that they may read."""

    def make(name: str = "acme", *shares: Share, **fields: Any) -> Caller:  # noqa: ANN401 (columns)
        return caller_of(name, *shares, **fields)

    return make


@pytest.fixture
def acme(lake: Lake, new_caller: NewCaller) -> Caller:
    """A recipient who may read the table."""
    return new_caller("acme", lake.shared.share)


@pytest.fixture
def stranger() -> Client:
    """A client without a token."""
    return Client(raise_request_exception=False)


@pytest.fixture
def shared_plain(db: None, tmp_path: Path, settings: Settings) -> NewPlainShare:  # noqa: ARG001 (a database)
    """Put a table into a share, as plain files; no query waits for them."""
    settings.PREPARED_FILES = str(tmp_path / "prepared")
    settings.PREPARED_WAIT_S = 0

    def put(table: DeltaTable) -> Ruled:
        version = table.latest_version()
        registered = new_table("hr.staff", location=table.root, version=version)
        share = new_share("People")
        shared = new_shared_table(share, "hr.staff", table=registered, plain=True)
        return Ruled(table, shared)

    return put
