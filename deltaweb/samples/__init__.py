"""The four sample tables of a first start.

The public writer makes them: `orders` grows daily, `devices` is nested, `customers` has
changed often, and `returns` is empty.
"""

import secrets
import shutil
from collections.abc import Callable
from datetime import datetime
from pathlib import Path
from typing import Final, NamedTuple

from deltaweb.samples import customers, devices, orders, returns

NAMESPACE: Final = "samples"
_TABLES: Final[dict[str, Callable[[Path, datetime], None]]] = {
    "orders": orders.write_orders,
    "device_readings": devices.write_device_readings,
    "customers": customers.write_customers,
    "returns": returns.write_returns,
}


class SampleTable(NamedTuple):
    """A sample as it is registered: where it stands and what it is called."""

    namespace: str
    name: str
    location: str


def make_samples(
    folder: Path,
    now: datetime,
    on_table: Callable[[str, int, int], None] | None = None,
) -> list[SampleTable]:
    """Make the sample tables that `folder` lacks; those that stand stay as they are.

    A table is written beside and renamed into place, so an interrupted start leaves
    no half of one behind under its name.

    Args:
        folder: Where the tables go; made when it is missing.
        now: Aware time of the newest commits; older ones lie up to weeks before.
        on_table: Called before each table with its name, how many stand already and
            how many there will be.

    Returns:
        Every sample table, in the order of their names' importance.
    """
    folder.mkdir(parents=True, exist_ok=True)
    samples: list[SampleTable] = []
    for name, write in _TABLES.items():
        if on_table is not None:
            on_table(name, len(samples), len(_TABLES))
        root = folder / name
        if not root.exists():
            _write_beside(root, now, write)
        samples.append(SampleTable(NAMESPACE, name, str(root)))
    return samples


def _write_beside(
    root: Path, now: datetime, write: Callable[[Path, datetime], None]
) -> None:
    for leftover in root.parent.glob(f".{root.name}.*"):
        shutil.rmtree(leftover, ignore_errors=True)
    beside = root.parent / f".{root.name}.{secrets.token_hex(8)}"
    beside.mkdir()
    try:
        write(beside, now)
        beside.rename(root)
    except FileExistsError:
        pass  # another process has been faster
    except OSError:
        if not root.exists():
            raise
    finally:
        shutil.rmtree(beside, ignore_errors=True)
