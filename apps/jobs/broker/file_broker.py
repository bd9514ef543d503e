"""The embedded broker: messages as files in a folder, each step of them atomic.

A file appears under its name when it is whole, and a message is taken by renaming it,
which one process alone can do. A machine that goes down may leave files empty all the
same: such a message is dropped, for the jobs in the database are the truth.

Who takes messages waits at bells, one for each queue that it takes from, and who leaves
one rings them (`named_pipes`): nobody polls the folder. Now and
then a taker does look: a ring may be lost, or a message come from another machine.

Celery finds the transport by its setting `broker_transport`. Of kombu's virtual
transport it is what that asks of one: a channel that puts, gets, counts and purges
messages. Exchanges are of no use here: a message is put straight into its queue.
"""

import json
import logging
import time
import uuid
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from queue import Empty
from time import monotonic
from typing import Any, Final
from weakref import WeakSet

from kombu.transport import virtual

from deltaweb.environment import named_pipes
from deltaweb.environment.named_pipes import WAKING, PipeReader

logger = logging.getLogger(__name__)

FOLDER: Final = "folder"
"""The transport option that says where messages are; `bells` lies beside them."""
LOOK_INTERVAL: Final = "look_interval_s"
"""The one that says how often to look for messages that came without a ring."""
LOOK_INTERVAL_S: Final = 2.0
POLLING_INTERVAL_S: Final = 0.2  # where a disk has no pipes


class Channel(virtual.Channel):
    """A channel whose files are never seen half written."""

    def _put(self, queue: str, message: dict[str, Any], **_: object) -> None:
        name = f"{time.time_ns():020d}-{uuid.uuid4().hex}.{queue}.msg"
        folder = self._folder()
        beside = folder / f".new-{uuid.uuid4().hex}"
        beside.write_text(json.dumps(message), encoding="utf-8")
        beside.rename(folder / name)
        with suppress(OSError):  # the message is there all the same
            named_pipes.write(bells_of(folder), queue, [WAKING])

    def _get(self, queue: str, timeout: float | None = None) -> dict[str, Any]:
        del timeout  # the transport waits
        for path in self._messages(queue):
            taken = path.with_name(f".taken-{path.name}")
            try:
                path.rename(taken)
            except FileNotFoundError:  # another worker was faster
                continue
            text = taken.read_text(encoding="utf-8")
            taken.unlink()
            try:
                message: dict[str, Any] = json.loads(text)
            except ValueError:
                logger.warning("An incomplete message is dropped: %s", path.name)
                continue
            return message
        raise Empty

    def _size(self, queue: str) -> int:
        return sum(1 for _ in self._messages(queue))

    def _purge(self, queue: str) -> int:
        purged = 0
        for path in self._messages(queue):
            with suppress(FileNotFoundError):
                path.unlink()
                purged += 1
        return purged

    def _messages(self, queue: str) -> Iterator[Path]:
        """Yield the messages of a queue, oldest first."""
        for path in sorted(self._folder().iterdir()):
            if path.name.partition(".")[2] == f"{queue}.msg":
                yield path

    def _folder(self) -> Path:
        return folder_of(self.connection.client)

    def basic_consume(self, queue: str, *args: Any, **kwargs: Any) -> None:  # noqa: ANN401 (kombu's own)
        """Take messages of a queue from now on."""
        super().basic_consume(queue, *args, **kwargs)  # type: ignore[no-untyped-call]  # kombu's own
        self.connection.taken_from.add(queue)

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


class Transport(virtual.Transport):
    """kombu's virtual transport with the channel above, and bells in place of polling.

    Attributes:
        taken_from: The queues whose messages this connection takes.
        bells: Those of this connection; None until it waits for a message.
        waits_no_more: Whether it hands on only what is there.
    """

    Channel = Channel
    default_port = 0  # type: ignore[assignment]  # as kombu's own have it
    driver_type = driver_name = "filesystem"

    def __init__(self, client: Any, **options: Any) -> None:  # noqa: ANN401 (kombu has no types)
        super().__init__(client, **options)  # type: ignore[no-untyped-call]  # kombu's own
        self.taken_from: set[str] = set()
        self.bells: PipeReader | None = None
        self.waits_no_more = False
        _transports.add(self)

    def driver_version(self) -> str:
        """There is no driver."""
        return "N/A"

    def drain_events(  # type: ignore[override]  # kombu's classes differ in this
        self,
        connection: Any,  # noqa: ANN401 (kombu has no types)
        timeout: float | None = None,
    ) -> None:
        """Hand on the next message."""
        until = None if timeout is None else monotonic() + timeout
        interval_s = self._interval_s() if self._hang_up_bells() else POLLING_INTERVAL_S
        while True:
            try:
                super().drain_events(connection, timeout=0)  # type: ignore[no-untyped-call]  # as above
            except TimeoutError:
                left_s = interval_s if until is None else until - monotonic()
                if left_s <= 0 or self.waits_no_more:
                    raise
                self._wait(min(interval_s, left_s))
            else:
                return

    def close_connection(self, connection: Any) -> None:  # noqa: ANN401 (as above)
        """Close all channels, and take the bells away."""
        if self.bells is not None:
            self.bells.close()
            self.bells = None
        super().close_connection(connection)  # type: ignore[no-untyped-call]  # as above

    def _interval_s(self) -> float:
        client: Any = self.client
        return float(client.transport_options.get(LOOK_INTERVAL, LOOK_INTERVAL_S))

    def _hang_up_bells(self) -> bool:
        """Have a bell for each queue that this connection takes from, if it can be."""
        if self.bells is None:
            self.bells = PipeReader(bells_of(folder_of(self.client)))
        try:
            for queue in self.taken_from:
                self.bells.open(queue)
        except OSError:  # not every disk has pipes
            return False
        return True

    def _wait(self, timeout_s: float) -> None:
        if self.bells is None:
            time.sleep(timeout_s)
        else:
            self.bells.wait(timeout_s)


_transports: Final[WeakSet[Transport]] = WeakSet()


def wait_no_more() -> None:
    """Have nobody in this process wait for messages any more: it is to end.

    Celery's loop finds that out between two waits of two seconds, by itself.
    """
    for transport in [*_transports]:
        transport.waits_no_more = True
        if transport.bells is not None:
            transport.bells.wake()


def folder_of(client: Any) -> Path:  # noqa: ANN401 (kombu has no types)
    """Return where the messages of a connection are."""
    return Path(client.transport_options[FOLDER])


def bells_of(folder: Path) -> Path:
    """Return where the bells of a broker hang."""
    return folder.with_name("bells")
