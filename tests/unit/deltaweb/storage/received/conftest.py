"""A provider that answers as a test says."""

import pytest

from tests.support.stores.sharing_provider import provider_running


@pytest.fixture
def provider():
    with provider_running() as running:
        yield running
