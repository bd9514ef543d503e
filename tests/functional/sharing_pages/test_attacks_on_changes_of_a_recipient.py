"""What a change does not name stays as another request has made it meanwhile."""

import pytest

from apps.pages.actions import command_stamp
from apps.sharing.models import Recipient
from apps.sharing.recipients.changes.settings import (
    LIMIT,
    UPDATE,
    Limits,
    RecipientChange,
)
from tests.support.pages.factories import new_recipient

pytestmark = pytest.mark.django_db
NETWORKS = ["192.0.2.0/24"]
CASES = [(UPDATE, RecipientChange(comment="new")), (LIMIT, Limits(soft_limit="1 GiB"))]


@pytest.mark.parametrize(("change", "asked"), CASES)
def test_a_change_does_not_undo_one_that_was_made_meanwhile(change, asked) -> None:
    new_recipient("acme")
    found_before = Recipient.objects.get()
    narrowed = RecipientChange(allowed_networks=NETWORKS, hard_limit="2 GiB")
    UPDATE.carry_out(Recipient.objects.get(), narrowed, command_stamp())

    change.carry_out(found_before, asked, command_stamp())

    now = Recipient.objects.get()
    assert (now.allowed_networks, now.hard_limit_bytes) == (NETWORKS, 2 << 30)
