"""What all tests share: markers by folder."""

from pathlib import Path

import pytest

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
