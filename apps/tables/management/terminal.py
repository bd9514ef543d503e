"""What a command says to work that takes long, and hears of it."""

from argparse import ArgumentParser
from collections.abc import Callable

from apps.jobs.running.reports import Reports
from apps.tables.index.engine import Engine
from apps.tables.index.spark_session import STARTING


class TerminalReports(Reports):
    """Says what takes long before it starts; steps and counts are for pages."""

    def __init__(self, warn: Callable[[str], None]) -> None:
        self._warn = warn

    def warn(self, sentence: str) -> None:
        """Say it."""
        self._warn(sentence)

    def step(
        self,
        name: str,
        *,
        done: int = 0,  # noqa: ARG002 (as Reports has it)
        total: int | None = None,  # noqa: ARG002 (as above)
        unit: str = "",  # noqa: ARG002 (as above)
    ) -> None:
        """Say that Spark is started, and why; more would be noise in a script's log."""
        if name.startswith(STARTING):
            self._warn(name)


def add_engine(parser: ArgumentParser) -> None:
    """Let somebody say who does the work; by its size it is chosen without."""
    parser.add_argument(
        "--engine",
        type=Engine,
        choices=[*Engine],
        help="this process or Spark (default: by the size of the work)",
    )
