"""The operations that commits name, in the few families that pages colour.

A writer may name its operation as it likes: what no family knows is OTHER, and the
chip still says the writer's own word.
"""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class OperationFamily:
    """Operations that look alike: one word, one icon, one hue."""

    name: str
    icon: str
    hue: str  # a hue of the style sheet: is-<hue> for chips, --dw-<hue>-m for marks

    @property
    def mark(self) -> str:
        """The CSS colour of the family's shapes in charts."""
        # Gray is VACUUM's; what no family knows is paler, in the legend too.
        return "var(--dw-line-strong)" if self is OTHER else f"var(--dw-{self.hue}-m)"


WRITE = OperationFamily(name="WRITE", icon="file-plus", hue="blue")
MERGE = OperationFamily(name="MERGE", icon="git-merge", hue="purple")
UPDATE = OperationFamily(name="UPDATE", icon="pencil", hue="amber")
OPTIMIZE = OperationFamily(name="OPTIMIZE", icon="arrows-join", hue="teal")
DELETE = OperationFamily(name="DELETE", icon="eraser", hue="red")
ALTER = OperationFamily(name="ALTER", icon="columns-3", hue="orange")
RESTORE = OperationFamily(name="RESTORE", icon="history", hue="green")
VACUUM = OperationFamily(name="VACUUM", icon="vacuum-cleaner", hue="gray")
OTHER = OperationFamily(name="OTHER", icon="git-commit", hue="gray")

FAMILIES = (WRITE, MERGE, UPDATE, OPTIMIZE, DELETE, ALTER, RESTORE, VACUUM, OTHER)

_FAMILY_OF_WORD = {
    "WRITE": WRITE,
    "STREAMING": WRITE,
    "APPEND": WRITE,
    "COPY": WRITE,
    "INSERT": WRITE,
    "MERGE": MERGE,
    "UPDATE": UPDATE,
    "UPSERT": MERGE,
    "OPTIMIZE": OPTIMIZE,
    "REORG": OPTIMIZE,
    "COMPACT": OPTIMIZE,
    "DELETE": DELETE,
    "TRUNCATE": DELETE,
    "ADD": ALTER,
    "ALTER": ALTER,
    "CHANGE": ALTER,
    "CREATE": ALTER,
    "CLUSTER": ALTER,
    "DROP": ALTER,
    "RENAME": ALTER,
    "REPLACE": ALTER,
    "SET": ALTER,
    "UNSET": ALTER,
    "UPGRADE": ALTER,
    "RESTORE": RESTORE,
    "UNDO": RESTORE,
    "CLONE": RESTORE,
    "CONVERT": RESTORE,
    "VACUUM": VACUUM,
}


def operation_family(operation: str) -> OperationFamily:
    """Return the family of an operation as a commit names it."""
    words = operation.upper().split()
    if not words:
        return OTHER
    if words[-1] == "SELECT":  # CREATE TABLE AS SELECT and its kin bring rows.
        return WRITE
    if words[:2] == ["UPDATE", "SCHEMA"]:
        return ALTER
    return _FAMILY_OF_WORD.get(words[0], OTHER)
