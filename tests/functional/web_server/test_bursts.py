"""Many clients that come at once and leave at once: the process outlives them."""

import contextlib
import socket
import threading

from tests.functional.web_server.patient_server import (
    ANSWERED_S,
    PATIENCE_S,
    POST,
    is_served,
    process_of,
    serving,
)
from tests.support import cases

NUM_CLIENTS = 8
LARGE = POST + b"Content-Length: 4194000\r\n\r\n" + bytes(4_194_000 - 10)
SMALL = POST + b"Content-Length: 99\r\n\r\nhalf"


def _come_and_leave(port: int, begun: bytes, *, num_times: int) -> None:
    for _ in range(num_times):
        with contextlib.suppress(OSError):
            address = ("127.0.0.1", port)
            with socket.create_connection(address, ANSWERED_S) as wire:
                wire.sendall(begun)


@cases(
    "begun, num_times, limit",
    {
        "more bytes than fit": (LARGE, 5, 8192),
        "more connections than fit": (SMALL, 200, 4),
        "more connections than fit, and no word": (b"", 200, 4),
    },
)
def test_clients_that_leave_at_once_end_no_process(tmp_path, begun, num_times, limit):
    with serving(tmp_path, PATIENCE_S, "--worker-connections", str(limit)) as port:
        process = process_of(port)

        clients = [
            threading.Thread(
                target=_come_and_leave,
                args=(port, begun),
                kwargs={"num_times": num_times},
            )
            for _ in range(NUM_CLIENTS)
        ]
        for client in clients:
            client.start()
        for client in clients:
            client.join()

        assert is_served(port)
        assert process_of(port) == process
