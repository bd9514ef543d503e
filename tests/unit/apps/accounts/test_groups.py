from datetime import UTC, datetime

import pytest
from django.db import IntegrityError, transaction

from apps.accounts.models import Group, Membership, groups_of
from tests.support.pages.factories import new_user

pytestmark = [pytest.mark.database, pytest.mark.django_db]

NOW = datetime(2026, 11, 30, 12, tzinfo=UTC)
LOCAL, CLAIM = Group.Source.LOCAL, Group.Source.CLAIM


class TestGroupsOf:
    def test_names_each_group_once(self) -> None:
        vera = new_user("vera")
        sales = Group.objects.create(name="sales", created_at=NOW)
        finance = Group.objects.create(name="finance", created_at=NOW)
        Group.objects.create(name="others", created_at=NOW)
        for group, source in ((sales, LOCAL), (sales, CLAIM), (finance, CLAIM)):
            Membership.objects.create(group=group, user=vera, source=source, since=NOW)

        assert list(groups_of(vera)) == [finance, sales]

    def test_is_empty_without_memberships(self) -> None:
        Group.objects.create(name="sales", created_at=NOW)

        assert not groups_of(new_user("vera"))


class TestGroup:
    def test_names_are_unique_regardless_of_case(self) -> None:
        Group.objects.create(name="sales", created_at=NOW)

        with pytest.raises(IntegrityError), transaction.atomic():
            Group.objects.create(name="Sales", created_at=NOW)

        assert Group.objects.named("SALES").exists()
