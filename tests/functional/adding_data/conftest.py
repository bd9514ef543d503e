"""An editor who adds data, a lake of theirs, and a worker."""

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from apps.jobs.models import Job
from tests.support.pages.answers import newest_job_done

if TYPE_CHECKING:
    from pytest_django.fixtures import Settings

Work = Callable[[], Job]


@pytest.fixture(autouse=True)
def lake(settings: "Settings", tmp_path: Path) -> Path:
    settings.HOME = tmp_path / "home"
    settings.ALLOWED_ROOTS = [str(tmp_path / "lake")]
    (tmp_path / "lake").mkdir()
    return tmp_path / "lake"


@pytest.fixture
def work() -> Work:
    """Do the newest job that adds data here, as a worker does."""
    return newest_job_done
