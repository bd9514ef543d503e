"""What a job keeps of a clean-up: all counts, and a bounded list."""

from datetime import UTC, datetime

from apps.tables.operations.clean_up.operation import LogFile, expired_history
from apps.tables.work.log_writing import MAX_FILES_NAMED
from deltaweb.delta.log.paths import checkpoint_name, commit_name
from deltaweb.delta.log.store import FileStatus
from deltaweb.delta.writing.log_cleanup import LogCleanup

CUTOFF = datetime(2026, 3, 1, tzinfo=UTC)


def test_counts_all_and_names_the_oldest() -> None:
    count = MAX_FILES_NAMED + 50
    files = [FileStatus(commit_name(version), 10, 0) for version in range(count)]
    files.append(FileStatus(checkpoint_name(3), 7, 0))

    told = expired_history(LogCleanup(CUTOFF, count, files, is_done=False))

    assert (told.num_files, told.num_commits) == (count + 1, count)
    assert told.size_bytes == 10 * count + 7
    assert (told.first_version, told.last_version) == (0, count - 1)
    assert len(told.files) == MAX_FILES_NAMED
    assert told.files[0] == LogFile(name=commit_name(0), size=10)
    assert told.cutoff == CUTOFF


def test_of_nothing_names_no_version() -> None:
    told = expired_history(LogCleanup(CUTOFF, None, [], is_done=True))

    assert told.first_version is None
    assert told.files == ()
