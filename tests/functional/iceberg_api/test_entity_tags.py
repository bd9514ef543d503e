"""Clients that ask whether the table that they have loaded is still the same."""

from datetime import timedelta

import pytest
from django.utils import timezone
from pyiceberg.table.metadata import TableMetadataUtil

from apps.audit.models import AuditEvent
from apps.sharing.api.iceberg import catalog_views
from apps.sharing.models import Recipient
from tests.functional.iceberg_api.clients import TABLE, body, catalog
from tests.functional.sharing_api.calls import Caller, Lake
from tests.support import cases
from tests.support.index.indexed_tables import index_table
from tests.support.pages.factories import new_grant


def tag_of(caller: Caller, path: str = TABLE, **headers: str) -> str:
    answer = catalog(caller, path, **headers)
    assert answer.status_code == 200, answer.content
    return answer["ETag"]


def status(caller: Caller, tag: str, path: str = TABLE, **headers: str) -> int:
    """What one who has the answer of a tag is answered."""
    return catalog(caller, path, **{"If-None-Match": tag, **headers}).status_code


def test_the_same_table_is_not_sent_again(acme: Caller) -> None:
    tag = tag_of(acme)

    answer = catalog(acme, TABLE, **{"If-None-Match": tag})

    assert (answer.status_code, answer.content) == (304, b"")
    assert answer["ETag"] == tag
    assert "no-store" in answer["Cache-Control"]
    first, second = AuditEvent.objects.filter(action="iceberg.table").order_by("id")
    assert (first.status, second.status, second.version) == (200, 304, 3)
    assert (first.size_bytes is None, second.size_bytes) == (False, None)


def test_a_tag_is_found_in_a_list_and_as_a_weak_one(acme: Caller) -> None:
    tag = tag_of(acme)

    assert status(acme, f'"x", W/{tag}, "y"') == 304


@pytest.mark.parametrize("tag", ["*", "", '"x"', '"' + "0" * 64 + '-1"', "\x80"])
def test_other_tags_match_nothing(acme: Caller, tag: str) -> None:
    assert status(acme, tag) == 200


def test_a_tag_with_a_later_end_matches_nothing(acme: Caller) -> None:
    digest, _, end = tag_of(acme).strip('"').partition("-")

    assert status(acme, f'"{digest}-{int(end) + 60}"') == 200
    assert status(acme, f'"{digest}-99999999999"') == 200


@cases(
    "change",
    {
        "a new version": lambda lake: lake.append("2026-01-04"),
        "no history": lambda lake: type(lake.shared).objects.update(with_history=False),
        "versions from one on": lambda lake: type(lake.shared).objects.update(
            start_version=2
        ),
    },
)
def test_other_content_is_sent(acme: Caller, lake: Lake, change) -> None:
    index_table(lake.shared.table)
    tag = tag_of(acme)
    assert status(acme, tag) == 304

    change(lake)

    assert status(acme, tag) == 200


def test_a_tag_is_good_for_its_caller_alone(acme, lake, new_caller) -> None:
    other = new_caller("globex")
    if not other.recipient.grants.exists():
        new_grant(lake.shared.share, other.recipient)
    tag = tag_of(acme)

    assert status(other, tag) == 200
    assert tag_of(other) != tag


def test_a_rule_of_the_recipient_ends_it(acme: Caller, lake: Lake) -> None:
    tag = tag_of(acme)
    lake.shared.rules.create(recipient=acme.recipient, columns=["id", "day"])

    assert status(acme, tag) != 304


def test_the_way_to_the_files_is_part_of_it(acme: Caller) -> None:
    delegated = {"X-Iceberg-Access-Delegation": "vended-credentials"}
    tag = tag_of(acme, **delegated)

    assert status(acme, tag, **delegated) == 304
    assert status(acme, tag) == 200
    assert status(acme, tag, **{"X-Iceberg-Access-Delegation": "remote-signing"}) == 200


def test_which_snapshots_are_wanted_is_part_of_it(acme: Caller, lake: Lake) -> None:
    index_table(lake.shared.table)
    tag = tag_of(acme)

    assert status(acme, tag, f"{TABLE}?snapshots=all") == 304
    assert status(acme, tag, f"{TABLE}?snapshots=refs") == 200


def test_keys_that_end_soon_are_sent_again(acme, settings, monkeypatch) -> None:
    tag = tag_of(acme)
    later = timezone.now() + timedelta(seconds=settings.FILE_URL_LIFETIME_S * 0.6)
    monkeypatch.setattr("apps.sharing.api.base.timezone.now", lambda: later)

    assert status(acme, tag) == 200


@pytest.mark.parametrize("is_revoked", [True, False])
def test_who_may_not_read_gets_no_304(acme: Caller, *, is_revoked: bool) -> None:
    tag = tag_of(acme)
    if is_revoked:
        acme.recipient.tokens.update(revoked_at=timezone.now())
    else:
        Recipient.objects.filter(id=acme.recipient.id).update(hard_limit_bytes=1)

    assert status(acme, tag) in {401, 403}


def test_snapshots_without_a_reference_can_be_left_out(acme, lake) -> None:
    index_table(lake.shared.table)

    every = body(catalog(acme, f"{TABLE}?snapshots=all"))["metadata"]
    referenced = body(catalog(acme, f"{TABLE}?snapshots=refs"))["metadata"]

    assert len(every["snapshots"]) == 4
    assert referenced["snapshots"] == every["snapshots"][-1:]
    assert referenced["snapshot-log"] == every["snapshot-log"][-1:]
    assert referenced["current-snapshot-id"] == every["current-snapshot-id"]
    table = TableMetadataUtil.parse_obj(referenced)
    snapshot = table.current_snapshot()
    assert snapshot is not None
    assert snapshot.snapshot_id == every["current-snapshot-id"]


@pytest.mark.parametrize("wanted", ["some", "REFS", "refs,all"])
def test_other_snapshots_are_refused_by_name(acme: Caller, wanted: str) -> None:
    answer = catalog(acme, f"{TABLE}?snapshots={wanted}")

    assert answer.status_code == 400
    assert "snapshots" in body(answer)["error"]["message"]
    assert catalog_views.REFERENCED_SNAPSHOTS in body(answer)["error"]["message"]
