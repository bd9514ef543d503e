"""What all tests share: markers by folder, people, and a home of their own."""

import os
import tempfile
from pathlib import Path

import pytest

# The settings read these when Django starts, which is before any fixture.
_HOME = tempfile.mkdtemp(prefix="deltaweb-test-")
os.environ["DELTAWEB_HOME"] = _HOME
os.environ.setdefault("DELTAWEB_LOG_LEVEL", "WARNING")

MARKED_FOLDERS = {
    "spark",
    "functional",
    "browser",
    "acceptance",
    "storage",
    "benchmarks",
}
TESTS = Path(__file__).parent


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """A test's folder is its marker."""
    for item in items:
        folder = item.path.relative_to(TESTS).parts[0]
        if folder in MARKED_FOLDERS:
            item.add_marker(folder.removesuffix("s") if folder == "benchmarks" else folder)
