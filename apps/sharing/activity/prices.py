"""What a GiB costs that is read from a store, by a setting.

`DELTAWEB_PRICES` names prefixes of locations, such as `s3://=0.09, s3://near/=0`; the
longest that holds a table's location counts, and `*` any other.
"""

from typing import Final

from django.conf import settings

from deltaweb.web.tables.storage.url_prefixes import holds

ANY: Final = "*"
GIB: Final = 1 << 30


def price_of(size_bytes: int, location: str | None) -> float | None:
    """Return what it costs to read so many bytes; None where no price is set.

    Args:
        location: Where the table is; None where that is not known any more.
    """
    prices: dict[str, float] = settings.PRICES
    held = [
        prefix
        for prefix in prices
        if prefix != ANY and location is not None and holds(prefix, location)
    ]
    price = prices.get(max(held, key=len, default=ANY))
    return None if price is None else size_bytes / GIB * price
