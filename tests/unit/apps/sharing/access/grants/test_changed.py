"""The versions of a range whose changes are offered under a rule."""

import pytest

from apps.sharing.access.grants.changed import offered_changes, offered_range
from apps.sharing.access.grants.rules import TableRule
from apps.sharing.models import PreparedChanges, SharedTable
from deltaweb.delta.feed.versions import VersionRange
from deltaweb.delta.log.commits.times import CommitTimes
from deltaweb.sharing.errors import RuledChangesError, VersionNotReadyError
from tests.support import cases
from tests.support.pages.factories import NOW, new_share, new_shared_table
from tests.support.pages.prepared_files import new_prepared_file

pytestmark = pytest.mark.django_db
RULE = TableRule(("id < 5",), None, {})
OTHER = TableRule(("id < 6",), None, {})


@pytest.fixture
def shared() -> SharedTable:
    """Changes of versions 3 to 6 were prepared, all but those of version 4."""
    shared = new_shared_table()
    for version in (3, 4, 5, 6):
        new_changes(shared, version, is_ready=version != 4)
    return shared


def new_changes(shared, version, rule=RULE, *, is_ready=True) -> PreparedChanges:
    return PreparedChanges.objects.create(
        shared_table=shared,
        rule=rule.digest,
        version=version,
        is_ready=is_ready,
        made_ms=0,
    )


def versions(first: int, last: int) -> VersionRange:
    return VersionRange(first, last, CommitTimes([], [], [], 0))


@cases(
    "first, last, is_open, expected",
    {
        "all are ready": (5, 6, False, (5, 6)),
        "one": (3, 3, False, (3, 3)),
        "open, to the newest that is ready": (5, 9, True, (5, 6)),
    },
)
def test_changes_that_are_ready_are_offered(shared, first, last, is_open, expected):
    found = offered_range(shared, RULE, versions(first, last), is_open=is_open)

    assert (found.first, found.last) == expected


@cases(
    "first, last, is_open",
    {
        "a version between": (3, 6, False),
        "the first version": (4, 6, False),
        "before the first prepared version": (2, 3, False),
        "open": (3, 9, True),
    },
)
def test_a_range_with_a_version_that_is_not_offered_is_refused(
    shared, first, last, is_open
) -> None:
    with pytest.raises(RuledChangesError) as caught:
        offered_range(shared, RULE, versions(first, last), is_open=is_open)

    assert caught.value.since == 5


@cases(
    "first, last, is_open, missing",
    {
        "the last": (5, 7, False, 7),
        "later ones": (8, 9, False, 8),
        "open": (7, 9, True, 7),
    },
)
def test_versions_after_the_newest_are_not_ready_yet(
    shared, first, last, is_open, missing
) -> None:
    with pytest.raises(VersionNotReadyError) as caught:
        offered_range(shared, RULE, versions(first, last), is_open=is_open)

    assert caught.value.version == missing


def test_changes_of_another_rule_or_table_are_not_offered(shared) -> None:
    other = new_shared_table(new_share("other"), "crm.other")
    new_changes(other, 8)
    new_changes(shared, 8, OTHER)

    with pytest.raises(VersionNotReadyError):
        offered_range(shared, RULE, versions(8, 8), is_open=False)
    with pytest.raises(RuledChangesError) as caught:
        offered_range(other, OTHER, versions(8, 8), is_open=False)
    assert caught.value.since is None


@pytest.fixture
def files(shared, tmp_path, settings) -> None:
    """A file of each version, and others that are not to be offered."""
    settings.PREPARED_FILES = str(tmp_path / "prepared")
    facts = {"rule": RULE.digest, "kind": "add", "partition_values": {"day": "1"}}
    for one in shared.prepared_changes.all():
        new_prepared_file(shared, f"v{one.version}", changes=one, **facts)
    new_prepared_file(shared, "rows", rule=RULE.digest)
    changes = new_changes(shared, 5, OTHER)
    facts["rule"] = OTHER.digest
    new_prepared_file(shared, "other-rule", changes=changes, **facts)


@pytest.mark.usefixtures("files")
@pytest.mark.parametrize("with_feed", [False, True])
def test_files_of_the_range_and_rule_are_offered(shared, with_feed) -> None:
    found = offered_changes(
        shared, RULE, versions(5, 6), [], with_feed=with_feed, now=NOW
    )

    (batch,) = found.batches()
    assert batch["path"].to_pylist() == ["v5.parquet", "v6.parquet"]
    assert batch["version"].to_pylist() == [5, 6]
    kind = "cdc" if with_feed else "add"
    assert batch["kind"].to_pylist() == [kind, kind]
    assert batch["partition_values"].to_pylist() == [[("day", "1")]] * 2


@pytest.mark.usefixtures("files")
def test_files_that_do_not_tell_their_kind_are_refused_without_a_feed(shared) -> None:
    shared.prepared_files.filter(key="v5").update(kind="")

    with pytest.raises(RuledChangesError) as caught:
        offered_changes(shared, RULE, versions(5, 6), [], with_feed=False, now=NOW)

    assert caught.value.since == 6
