"""What the metadata of a column has, by its keys: those of the protocol, and of Spark.

Source: delta_protocol.md, "Column Metadata", "Column Mapping", "Identity Columns",
"Type Change Metadata"; Spark's types of text, collations and defaults.
"""

from typing import Final

COMMENT: Final = "comment"
INVARIANTS: Final = "delta.invariants"
GENERATION: Final = "delta.generationExpression"
TYPE_CHANGES: Final = "delta.typeChanges"

PHYSICAL_NAME: Final = "delta.columnMapping.physicalName"
FIELD_ID: Final = "delta.columnMapping.id"
NESTED_IDS: Final = "delta.columnMapping.nested.ids"

IDENTITY: Final = "delta.identity."
START: Final = f"{IDENTITY}start"
STEP: Final = f"{IDENTITY}step"
HIGH_WATER_MARK: Final = f"{IDENTITY}highWaterMark"
TAKES_VALUES: Final = f"{IDENTITY}allowExplicitInsert"

DEFAULT: Final = "CURRENT_DEFAULT"
EXISTS_DEFAULT: Final = "EXISTS_DEFAULT"
CHAR_TYPE: Final = "__CHAR_VARCHAR_TYPE_STRING"
COLLATIONS: Final = "__COLLATIONS"
