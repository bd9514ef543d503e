"""A store in memory."""

import pytest

from deltaweb.delta.log.store import TableStore
from tests.storage.table_stores.every_store import TableStorePromises
from tests.support.stores.memory import MemoryTableStore


class TestMemoryTableStore(TableStorePromises):
    @pytest.fixture
    def store(self) -> TableStore:
        return MemoryTableStore()
