"""The shared table of a signed URL, looked up again at each request."""

from uuid import uuid4

import pytest

from apps.sharing.answers.files import check_live_token, granted_by_id, known_token
from apps.sharing.models import Grant, RecipientToken, Share, SharedSchema, SharedTable
from apps.tables.models import Table
from deltaweb.sharing.errors import FileRefusedError
from tests.support import cases
from tests.support.pages.factories import (
    NOW,
    new_grant,
    new_recipient,
    new_shared_table,
    new_token,
)

pytestmark = pytest.mark.django_db


@pytest.fixture
def shared() -> SharedTable:
    """A table that came into a share with the whole namespace `crm`."""
    shared = new_shared_table()
    shared.from_schema = SharedSchema.objects.create(
        share=shared.share,
        schema="all",
        schema_key="all",
        namespace="crm",
        added_at=NOW,
    )
    shared.save()
    return shared


@pytest.fixture
def token(shared: SharedTable) -> RecipientToken:
    """The token of a recipient who may read the share, from one network."""
    recipient = new_recipient(allowed_networks=["192.0.2.0/24"])
    new_grant(shared.share, recipient)
    return new_token(recipient)[0]


def test_a_table_of_a_granted_share_is_found(shared, token) -> None:
    assert granted_by_id(shared.id, token) == shared


@cases(
    "end",
    {
        "the grant": lambda: Grant.objects.all().delete(),
        "the share": lambda: Share.objects.update(off_since=NOW),
        "the place in the namespace": lambda: Table.objects.update(namespace="hr"),
        "the sight of viewers": lambda: Table.objects.update(is_private=True),
    },
)
def test_a_url_ends_with_what_it_was_signed_for(shared, token, end) -> None:
    end()

    with pytest.raises(FileRefusedError, match="no longer shared"):
        granted_by_id(shared.id, token)


def test_a_url_of_another_recipient_or_table_is_refused(shared, token) -> None:
    other = new_recipient("other")

    with pytest.raises(FileRefusedError, match="no longer shared"):
        granted_by_id(shared.id, new_token(other)[0])
    with pytest.raises(FileRefusedError, match="no longer shared"):
        granted_by_id(uuid4(), token)


@cases(
    "address, fields",
    {
        "from another network": ("198.51.100.1", {}),
        "from nowhere": ("", {}),
        "after it was revoked": ("192.0.2.1", {"revoked_at": NOW}),
        "after its end": ("192.0.2.1", {"expires_at": NOW}),
    },
)
def test_a_token_without_access_opens_no_file(token, address, fields) -> None:
    check_live_token(token, address="192.0.2.1", now=NOW)
    for name, value in fields.items():
        setattr(token, name, value)

    with pytest.raises(FileRefusedError):
        check_live_token(token, address=address, now=NOW)


def test_a_url_without_its_token_is_refused(token) -> None:
    assert known_token(token.id) == token
    with pytest.raises(FileRefusedError, match="was deleted"):
        known_token(uuid4())
