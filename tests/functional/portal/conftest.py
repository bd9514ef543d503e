"""A table of which recipients read a part, in the browser."""

from collections.abc import Callable
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from django.utils import timezone
from pytest_django import Settings

from apps.sharing.models import Share
from tests.functional.portal.visitors import Visitor
from tests.functional.sharing_api.ruled import Ruled, new_staff
from tests.support.pages.factories import (
    new_grant,
    new_recipient,
    new_share,
    new_shared_table,
    new_table,
    new_token,
)

NewVisitor = Callable[..., Visitor]


@pytest.fixture(autouse=True)
def _portal(tmp_path: Path, settings: Settings) -> None:
    """Every test has buckets and rewritten files of its own."""
    settings.HOME = tmp_path
    settings.PREPARED_FILES = str(tmp_path / "prepared")
    settings.BROWSER_READING = True
    settings.PROVIDER_NAME = "Northwind Data"


@pytest.fixture
def staff(db: None, tmp_path: Path) -> Ruled:  # noqa: ARG001 (a database)
    """The table `hr.staff` of the share `People`, open in the browser."""
    root = tmp_path / "lake" / "staff"
    table = new_table("hr.staff", location=str(root), version=3, num_records=15)
    shared = new_shared_table(
        new_share("People", in_browser=True), "hr.staff", table=table
    )
    return Ruled(new_staff(root), shared)


@pytest.fixture
def new_visitor(db: None) -> NewVisitor:  # noqa: ARG001 (a database)
    """Recipients with a token, and shares that they may read."""

    def make(name: str = "acme", *shares: Share, **fields: Any) -> Visitor:  # noqa: ANN401 (columns)
        recipient = new_recipient(name, **fields)
        for share in shares:
            new_grant(share, recipient)
        return Visitor(
            *new_token(recipient, expires_at=timezone.now() + timedelta(days=9))
        )

    return make


@pytest.fixture
def acme(staff: Ruled, new_visitor: NewVisitor) -> Visitor:
    """A recipient who may read the table, and has not signed in."""
    return new_visitor("acme", staff.shared.share, properties={"region": "EU"})
