"""The embedded broker: messages as files in a folder, each step of them atomic.

kombu's own file transport writes a message or a table of queues in place, so that
another process may read half of it, or none, and lose a wake-up. Here a file appears
under its name when it is whole, and a message is taken by renaming it, which one
process alone can do. A machine that goes down may leave files empty all the same: such
a message is dropped, for the jobs in the database are the truth.

Who takes messages waits at bells, one for each queue that it takes from, and who leaves
one rings them (`named_pipes`): nobody looks into the folder again and again. Now and
then a taker does look: a ring may be lost, or a message come from another machine.
"""

import fcntl
import json
import logging
import time
import uuid
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from queue import Empty
from time import monotonic
from typing import Any, Final

from kombu.transport import TRANSPORT_ALIASES, filesystem

from deltaweb.environment import named_pipes
from deltaweb.environment.named_pipes import WAKING, PipeReader

logger = logging.getLogger(__name__)

SCHEME = "filesystem"
BELLS: Final = "bells"  # their folder, beside the tables of queues
LOOK_INTERVAL_S: Final = 2.0  # for messages without a ring
POLLING_INTERVAL_S: Final = 0.2  # where a disk has no pipes


def register() -> None:
    """Let `filesystem://` mean this transport, in this process."""
    TRANSPORT_ALIASES[SCHEME] = f"{__name__}:Transport"


class Channel(filesystem.Channel):
    """A channel whose files are never seen half written."""

    def get_table(self, exchange: str) -> list[Any]:
        """Return the queues that an exchange feeds."""
        try:
            rows = json.loads(self._path_of(exchange).read_text(encoding="utf-8"))
        except FileNotFoundError:
            return []
        except ValueError:
            logger.warning("The table of exchange %s is spoilt; made anew.", exchange)
            return []
        return [filesystem.exchange_queue_t(*row) for row in rows]

    def _queue_bind(
        self, exchange: str, routing_key: str, pattern: str, queue: str
    ) -> None:
        row = [routing_key or "", pattern or "", queue or ""]
        rows = [list(bound) for bound in self.get_table(exchange)]
        if row not in rows:
            self._change_table(exchange, lambda rows: [row, *rows])

    def _delete(
        self,
        queue: str,
        exchange: str,
        routing_key: str,
        pattern: str,
        *_: object,
        **__: object,
    ) -> None:
        self._purge(queue)  # type: ignore[no-untyped-call]  # kombu's own
        row = [routing_key or "", pattern or "", queue or ""]
        self._change_table(exchange, lambda rows: [r for r in rows if r != row])

    def _change_table(
        self, exchange: str, change: Callable[[list[list[str]]], list[list[str]]]
    ) -> None:
        """Replace the table of an exchange; one process at a time."""
        path = self._path_of(exchange)
        with _locked(path.with_suffix(".lock")):
            rows = change([list(bound) for bound in self.get_table(exchange)])
            _write_whole(path, json.dumps(rows))

    def _path_of(self, exchange: str) -> Path:
        path: Path = self._exchange_file(exchange)  # type: ignore[no-untyped-call]  # kombu's own
        return path

    def _put(  # type: ignore[override]  # kombu's classes differ in this name
        self, queue: str, message: dict[str, Any], **_: object
    ) -> None:
        name = f"{time.time_ns():020d}-{uuid.uuid4().hex}.{queue}.msg"
        _write_whole(Path(self.data_folder_out) / name, json.dumps(message))
        with suppress(OSError):  # the message is there all the same
            named_pipes.write(self.bells_folder, queue, [WAKING])

    @property
    def bells_folder(self) -> Path:
        """Where the bells of this broker hang."""
        return Path(self.control_folder) / BELLS

    def basic_ack(self, delivery_tag: str, multiple: bool = False) -> None:  # noqa: FBT001, FBT002 (kombu's own)
        """Take a message as done: there is room for the next one."""
        super().basic_ack(delivery_tag, multiple=multiple)  # type: ignore[no-untyped-call]  # kombu's own
        self._wake_self()

    def basic_reject(self, delivery_tag: str, requeue: bool = False) -> None:  # noqa: FBT001, FBT002 (as above)
        """Give a message back, which makes room as well."""
        super().basic_reject(delivery_tag, requeue=requeue)  # type: ignore[no-untyped-call]  # kombu's own
        self._wake_self()

    def _wake_self(self) -> None:
        bells = getattr(self.connection, "bells", None)  # closed, it has neither
        if bells is not None:
            bells.wake()

    def _get(self, queue: str, timeout: float | None = None) -> dict[str, Any]:
        del timeout  # the transport polls
        folder = Path(self.data_folder_in)
        for name in sorted(path.name for path in folder.iterdir()):
            if name.partition(".")[2] != f"{queue}.msg":
                continue
            taken = folder / f".taken-{name}"
            try:
                (folder / name).rename(taken)
            except FileNotFoundError:  # another worker was faster
                continue
            text = taken.read_text(encoding="utf-8")
            taken.unlink()
            try:
                message: dict[str, Any] = json.loads(text)
            except ValueError:
                logger.warning("A message is dropped that is not whole: %s", name)
                continue
            return message
        raise Empty


class Transport(filesystem.Transport):
    """kombu's transport with the channel above, and bells in the place of polling.

    Attributes:
        bells: Those of this connection; None until it waits for a message.
    """

    Channel = Channel

    def __init__(self, client: Any, **options: Any) -> None:  # noqa: ANN401 (kombu has no types)
        super().__init__(client, **options)  # type: ignore[no-untyped-call]  # kombu's own
        self.bells: PipeReader | None = None

    def drain_events(  # type: ignore[override]  # kombu's classes differ in this
        self,
        connection: Any,  # noqa: ANN401, ARG002 (as above)
        timeout: float | None = None,
    ) -> None:
        """Hand on the next message.

        Raises:
            TimeoutError: If none comes in time.
        """
        until = None if timeout is None else monotonic() + timeout
        can_ring = self._hang_up_bells()
        interval_s = LOOK_INTERVAL_S if can_ring else POLLING_INTERVAL_S
        take: Any = self.cycle
        while True:
            try:
                take.get(self._deliver, timeout=timeout)
            except Empty:
                left_s = interval_s if until is None else until - monotonic()
                if left_s <= 0:
                    raise TimeoutError from None
                self._wait(min(interval_s, left_s))
            else:
                return

    def close_connection(self, connection: Any) -> None:  # noqa: ANN401 (as above)
        """Close all channels, and take the bells away."""
        if self.bells is not None:
            self.bells.close()
            self.bells = None
        super().close_connection(connection)  # type: ignore[no-untyped-call]  # as above

    def _hang_up_bells(self) -> bool:
        """Have a bell for each queue that this connection takes from, if it can be."""
        queues = {queue for one in self.channels for queue in one._active_queues}  # noqa: SLF001 (kombu's own)
        if self.bells is None:
            folders = [channel.bells_folder for channel in self.channels]
            if not folders:
                return False
            self.bells = PipeReader(folders[0])
        try:
            for queue in queues:
                self.bells.open(queue)
        except OSError:  # not every disk has pipes
            return False
        return True

    def _wait(self, timeout_s: float) -> None:
        if self.bells is None:
            time.sleep(timeout_s)
        else:
            self.bells.wait(timeout_s)


def _write_whole(path: Path, text: str) -> None:
    beside = path.with_name(f".new-{uuid.uuid4().hex}")
    beside.write_text(text, encoding="utf-8")
    beside.rename(path)


@contextmanager
def _locked(path: Path) -> Iterator[None]:
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("a", encoding="utf-8") as file:
        fcntl.flock(file, fcntl.LOCK_EX)  # closing the file lets go
        yield
