"""An answer waits for the preparation that it needs, and is tried once more."""

from collections.abc import Callable

import pytest
from pytest_django import Settings

from apps.jobs.models import Job
from apps.sharing.answers.awaited import once_prepared
from apps.sharing.models import SharedTable
from deltaweb.sharing.errors import PlainFilesAwaitedError
from tests.support.pages.factories import NOW, new_shared_table

pytestmark = pytest.mark.django_db


@pytest.fixture
def shared(settings: Settings) -> SharedTable:
    settings.PREPARED_WAIT_S = 0
    return new_shared_table()


def ready_after(tries: int) -> Callable[[], str]:
    """An answer that is refused some times."""
    refused = [PlainFilesAwaitedError(table="t", retry_after_s=30)] * tries

    def answer() -> str:
        if refused:
            raise refused.pop()
        return "rows"

    return answer


def test_an_answer_that_is_there_requests_nothing(shared: SharedTable) -> None:
    assert once_prepared(shared, ready_after(0), now=NOW) == "rows"
    assert not Job.objects.exists()


def test_one_that_is_prepared_meanwhile_is_given(shared: SharedTable) -> None:
    assert once_prepared(shared, ready_after(1), now=NOW) == "rows"
    assert Job.objects.get().kind == "sharing.prepare_share"


def test_one_that_takes_longer_is_refused(shared: SharedTable) -> None:
    with pytest.raises(PlainFilesAwaitedError):
        once_prepared(shared, ready_after(2), now=NOW)
