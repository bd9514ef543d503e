"""The sample tables."""

from pathlib import Path

import pytest

from deltaweb.samples import make_samples
from tests.factories import NOW


@pytest.fixture(scope="session")
def lake(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The sample tables, which no test changes."""
    folder = tmp_path_factory.mktemp("lake")
    make_samples(folder, NOW)
    return folder
