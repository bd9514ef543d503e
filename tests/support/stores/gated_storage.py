"""A storage whose tables keep their readers waiting, or kill them, as a test wants.

It is this machine's disk under the scheme `adl`, which the catalogue knows, and for
which no driver is installed here. Processes with `gated_environment` have its driver; a
test puts a word beside a table's folder:

    gate = Gate.before(lake / "orders")    # whoever reads the table waits
    assert gate.has_reader                 # once somebody does
    gate.open()                            # it goes on, and so does everybody after it
"""

import os
import signal
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from fsspec.implementations.local import LocalFileSystem

ROOT = Path(__file__).resolve().parents[3]
SCHEME = "adl"
PASSES = "TESTS_PASS_GATES"  # a process that has this variable meets none closed
LOOK_INTERVAL_S = 0.02


@dataclass(frozen=True, slots=True)
class Gate:
    """What readers of one table come up against."""

    table: Path

    @classmethod
    def before(cls, table: Path, *, kills: str = "") -> "Gate":
        """Close a gate, or with `kills` make it deadly: `once`, or `always`."""
        gate = cls(table)
        gate._marker("gate").write_text(kills or "closed")
        return gate

    @property
    def location(self) -> str:
        """The table's location behind the gate."""
        return f"{SCHEME}:/{self.table}"

    @property
    def has_reader(self) -> bool:
        """Whether anybody has come to it."""
        return self._marker("reader").exists()

    def open(self) -> None:
        """Let readers through; safe to repeat."""
        self._marker("gate").unlink(missing_ok=True)

    def pass_through(self) -> None:
        """Wait, or die, as the gate says: what a reader does."""
        while (word := self._word()) is not None:
            self._marker("reader").touch()
            if word == "once":
                self.open()
            if word in {"once", "always"}:
                os.kill(os.getpid(), signal.SIGKILL)
            time.sleep(LOOK_INTERVAL_S)

    def _word(self) -> str | None:
        try:
            return self._marker("gate").read_text()
        except FileNotFoundError:
            return None

    def _marker(self, name: str) -> Path:
        return self.table.with_name(f"{self.table.name}.{name}")


class GatedFileSystem(LocalFileSystem):  # type: ignore[misc]  # fsspec has no types
    """The disk, each table behind its gate."""

    protocol = SCHEME

    @classmethod
    def _strip_protocol(cls, path: Any) -> str:  # noqa: ANN401 (as in fsspec)
        rest = os.fspath(path).removeprefix(f"{SCHEME}://").lstrip("/")
        return str(super()._strip_protocol(f"/{rest}"))

    def ls(self, path: str, detail: bool = False, **options: Any) -> Any:  # noqa: ANN401, FBT001, FBT002 (as in fsspec)
        """List a folder."""
        _wait(path)
        return super().ls(path, detail=detail, **options)

    def _open(self, path: str, *given: Any, **options: Any) -> Any:  # noqa: ANN401 (as in fsspec)
        _wait(path)
        return super()._open(path, *given, **options)


def _wait(path: str) -> None:
    if PASSES in os.environ:
        return
    table = GatedFileSystem._strip_protocol(path).partition("/_delta_log")[0]  # noqa: SLF001 (ours)
    Gate(Path(table)).pass_through()


def gated_environment(folder: Path) -> dict[str, str]:
    """Variables by which a Python process, and what it starts, has the driver.

    Args:
        folder: Where the driver is declared, as an installed package declares its own.
    """
    declared = folder / "gated_storage-1.dist-info"
    if not declared.exists():
        declared.mkdir(parents=True)
        (declared / "METADATA").write_text("Name: gated-storage\nVersion: 1\n")
        entry = f"{SCHEME} = {__name__}:{GatedFileSystem.__name__}"
        (declared / "entry_points.txt").write_text(f"[fsspec.specs]\n{entry}\n")
        # The tests alone: a Python that lacks the project must go on lacking it.
        (folder / "tests").symlink_to(ROOT / "tests")
    given = os.environ.get("PYTHONPATH", "")
    paths = [str(folder), *([given] if given else [])]
    return {"PYTHONPATH": os.pathsep.join(paths)}
