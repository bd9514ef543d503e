"""A store in memory."""

import pytest

from deltaweb.delta.log.store import TableStore
from deltaweb.storage.memory import MemoryTableStore
from tests.storage.table_stores.every_store import TableStorePromises


class TestMemoryTableStore(TableStorePromises):
    @pytest.fixture
    def store(self) -> TableStore:
        return MemoryTableStore()
