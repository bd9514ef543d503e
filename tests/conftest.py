"""What all tests share: markers by folder."""

from pathlib import Path

import pytest
from hypothesis import settings

# A loaded machine is slow for a moment; only a wrong answer is a failure.
settings.register_profile("deltaweb", deadline=None)
settings.load_profile("deltaweb")

MARKERS = {
    "acceptance": "acceptance",
    "benchmarks": "benchmark",
    "browser": "browser",
    "functional": "functional",
    "spark": "spark",
    "storage": "storage",
}
TESTS = Path(__file__).parent


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """A test's folder is its marker."""
    for item in items:
        folder = item.path.relative_to(TESTS).parts[0]
        if marker := MARKERS.get(folder):
            item.add_marker(marker)
