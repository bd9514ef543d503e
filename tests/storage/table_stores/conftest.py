"""Failed promises are told in full, as failed tests are."""

import pytest

for kind in ("log", "pending_file", "data_file"):
    pytest.register_assert_rewrite(f"tests.storage.table_stores.{kind}_promises")
