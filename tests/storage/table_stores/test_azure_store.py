"""A store on Azure."""

from datetime import UTC, datetime

import pytest

from deltaweb.delta.log.store import TableStore
from deltaweb.storage.objects.vending.errors import VendingUnsupportedError
from deltaweb.storage.objects.vending.vendors import open_vendor
from deltaweb.storage.place import open_store
from tests.storage.table_stores.every_store import TableStorePromises
from tests.support.stores.azure_server import AzureServer


# What Azure's own client does with a file of some megabytes.
@pytest.mark.filterwarnings("ignore:Sending a large body:ResourceWarning")
class TestAzureTableStore(TableStorePromises):
    @pytest.fixture
    def store(self, azure: AzureServer) -> TableStore:
        return open_store(f"az://{azure.new_container()}/a b/ü=1", azure.options)


def test_an_account_without_directories_vends_no_signature(azure: AzureServer) -> None:
    principal = {"tenant_id": "t", "client_id": "c", "client_secret": "s"}
    vendor = open_vendor(
        f"az://{azure.new_container()}/lake/t", azure.options | principal
    )

    with pytest.raises(VendingUnsupportedError, match="no hierarchical namespace"):
        vendor.vend(lifetime_s=900, now=datetime.now(UTC))
