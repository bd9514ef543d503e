from datetime import UTC, datetime

import pytest

from deltaweb.storage.signing.errors import SigningUnsupportedError
from deltaweb.storage.signing.signer import open_signer


@pytest.mark.parametrize(
    ("location", "scheme"),
    [("/lake/orders", "file"), ("memory://t", "memory"), ("hdfs://host/t", "hdfs")],
)
def test_a_storage_without_urls_is_refused_by_name(location: str, scheme: str) -> None:
    with pytest.raises(SigningUnsupportedError, match=f"{scheme}://") as caught:
        open_signer(location, None, now=datetime.now(UTC), lifetime_s=60)
    assert caught.value.code == "location-unsupported"
