"""A process that is killed within a call gives its idempotency key back in time."""

import signal
from pathlib import Path
from typing import Final

import pytest

from tests.support.processes.installation import environment, migrate, wait_for
from tests.support.processes.workers import Workers

pytestmark = [pytest.mark.timeout(600), pytest.mark.slow]
# Renewed three times in it: a process may be held up for two thirds of it.
LEASE_S: Final = 8
STILL_ANSWERED: Final = [409, "still-answered"]


def test_its_key_is_taken_while_it_lives_and_free_once_it_was_killed(
    tmp_path: Path,
) -> None:
    mark = tmp_path / "mark"
    migrate(tmp_path)
    calls = Workers(
        environment(tmp_path, DELTAWEB_JOB_LEASE_S=str(LEASE_S)),
        tmp_path / "calls.log",
        "tests.functional.rest.killed_calls",
    )
    try:
        key = calls.ask("key")
        living = calls.start(key, mark)
        assert wait_for(mark.exists), calls.log.read_text()
        taken_until = calls.ask("lease")
        assert calls.ask(key) == STILL_ANSWERED
        assert wait_for(lambda: calls.ask("lease") > taken_until + LEASE_S)
        assert calls.ask(key) == STILL_ANSWERED

        living.kill()

        assert living.wait() == -signal.SIGKILL
        assert wait_for(lambda: calls.ask(key) != STILL_ANSWERED)
        assert calls.ask(key) == [201, ""]
    finally:
        calls.stop()
