from datetime import timedelta

import pytest

from apps.notices.events import publisher
from apps.notices.events.publisher import (
    after_publishing,
    new_epoch,
    prune_events,
    publish_events,
    the_sequence,
)
from apps.notices.models import Event
from tests.support.pages.factories import NOW

pytestmark = [pytest.mark.django_db, pytest.mark.database]


def write(count: int) -> None:
    Event.objects.bulk_create(
        Event(kind="table.version", data="{}", at=NOW + timedelta(hours=place))
        for place in range(count)
    )


def test_events_are_numbered_in_the_order_in_which_they_were_written() -> None:
    write(3)

    assert publish_events() == 3

    write(1)
    assert publish_events() == 1
    found = Event.objects.order_by("id").values_list("number", flat=True)
    assert list(found) == [1, 2, 3, 4]


def test_what_is_more_than_a_batch_is_published_too(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(publisher, "BATCH", 2)
    write(5)
    heard: list[int] = []
    follower = heard.append
    after_publishing.register(follower)
    try:
        assert publish_events() == 5
        assert publish_events() == 0
    finally:
        after_publishing.remove(follower)

    assert heard == [2, 4, 5]


def test_another_epoch_keeps_the_numbers_and_ends_the_cursors() -> None:
    write(2)
    publish_events()
    first = the_sequence().epoch

    second = new_epoch()

    sequence = the_sequence()
    assert sequence.epoch == second != first
    assert sequence.former == {first: 2}
    assert sequence.last_number == 2


def test_pruning_leaves_no_gap_between_kept_events() -> None:
    write(4)
    publish_events()
    Event.objects.filter(number=1).update(at=NOW + timedelta(days=1))

    assert prune_events(before=NOW + timedelta(hours=3)) == 0

    Event.objects.filter(number=1).update(at=NOW)
    assert prune_events(before=NOW + timedelta(hours=3)) == 3
    assert the_sequence().pruned_to == 3
    assert Event.objects.get().number == 4


def test_events_without_a_number_are_never_pruned() -> None:
    write(1)

    assert prune_events(before=NOW + timedelta(days=9)) == 0
    assert Event.objects.count() == 1
