"""What the metadata of a column says of the numbers that it gives.

Source: delta_protocol.md, "Identity Columns".
"""

from typing import Final

IDENTITY: Final = "delta.identity."
START: Final = f"{IDENTITY}start"
STEP: Final = f"{IDENTITY}step"
HIGH_WATER_MARK: Final = f"{IDENTITY}highWaterMark"
TAKES_VALUES: Final = f"{IDENTITY}allowExplicitInsert"
