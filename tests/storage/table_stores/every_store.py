"""All promises of a table's store, held against each by its own tests."""

from tests.storage.table_stores.data_file_promises import DataFilePromises
from tests.storage.table_stores.log_promises import LogPromises
from tests.storage.table_stores.pending_file_promises import PendingFilePromises


class TableStorePromises(LogPromises, PendingFilePromises, DataFilePromises):
    """Inherited by the tests of each store.

    Each has a fixture `store`: the store of a table without any file.
    """
