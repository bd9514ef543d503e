"""How the tasks of one run and their driver tell each other things, table by table.

It is a folder of small files, which the driver and all executors see:

    <n>.claim           A task works on table n, and no other task shall.
    <n>.cancel          Table n is not wanted any more.
    <n>.progress.json   How far table n is.
    <n>.result.json     What came of table n.
"""

import json
import os
from collections.abc import Collection
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

CLAIM: Final = ".claim"
CANCEL: Final = ".cancel"
PROGRESS: Final = ".progress.json"
RESULT: Final = ".result.json"


@dataclass(frozen=True, slots=True)
class RunFolder:
    """The folder of one run."""

    path: Path

    # === In a task ===

    def claim(self, position: int) -> bool:
        """Take a table, if no other task has it.

        Raises:
            FileNotFoundError: If the run is over.
            OSError: If nobody can tell, as on a disk that is full.
        """
        try:
            (self.path / f"{position}{CLAIM}").touch(exist_ok=False)
        except FileExistsError:
            return False
        return True

    def is_cancelled(self, position: int) -> bool:
        """Whether a table is not wanted any more, or none of the run is."""
        return (self.path / f"{position}{CANCEL}").exists() or not self.path.exists()

    def tell_progress(self, position: int, values: object) -> None:
        """Say how far a table is; a full disk costs the report, not yet the work."""
        with suppress(OSError):
            _write_json(self.path / f"{position}{PROGRESS}", values)

    def tell_result(self, position: int, values: object) -> bool:
        """Say what came of a table; tell whether that was possible."""
        try:
            _write_json(self.path / f"{position}{RESULT}", values)
        except OSError:
            return False
        return True

    # === In the driver ===

    def cancel(self, position: int) -> None:
        """Say that a table is not wanted; what cannot be said is said again."""
        with suppress(OSError):
            (self.path / f"{position}{CANCEL}").touch()

    def take_results(self) -> dict[int, Any]:
        """Return what came of tables since this was asked last."""
        found = {}
        for position in self._positions(RESULT):
            found[position] = _read_json(self.path / f"{position}{RESULT}")
            (self.path / f"{position}{RESULT}").unlink()
            (self.path / f"{position}{PROGRESS}").unlink(missing_ok=True)
        return found

    def progress(self) -> dict[int, Any]:
        """Return how far the tables are that are being worked on."""
        positions = self._positions(PROGRESS)
        return {n: _read_json(self.path / f"{n}{PROGRESS}") for n in positions}

    def claimed(self) -> set[int]:
        """Return the tables that some task has taken."""
        return set(self._positions(CLAIM))

    def forget(self, positions: Collection[int]) -> None:
        """Let tables be taken again."""
        for position in positions:
            for suffix in (CLAIM, PROGRESS):
                (self.path / f"{position}{suffix}").unlink(missing_ok=True)

    def _positions(self, suffix: str) -> list[int]:
        """Return the tables that have a file of a kind, in their order."""
        return sorted(
            int(name.removesuffix(suffix))
            for name in os.listdir(self.path)  # noqa: PTH208 (names are enough)
            if name.endswith(suffix) and not name.startswith(".")
        )


def _write_json(path: Path, values: object) -> None:
    """Write a small file whole, so that a reader never sees half of it."""
    beside = path.with_name(f".{path.name}.{os.getpid()}")
    beside.write_text(json.dumps(values), encoding="utf-8")
    beside.replace(path)


def _read_json(path: Path) -> Any:  # noqa: ANN401 (any JSON)
    return json.loads(path.read_text(encoding="utf-8"))
