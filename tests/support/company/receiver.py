"""A receiver of webhooks that survives a kill: it writes each request down first.

python -m tests.support.company.receiver ADDRESS PORT FILE
"""

import json
import signal
import subprocess
import sys
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

from standardwebhooks.webhooks import Webhook as Verifier

from tests.support.processes.installation import ROOT, wait_for
from tests.support.processes.ports import free_port


@dataclass
class ReceiverProcess:
    """A receiver that can be killed and started again.

    Attributes:
        file: Each request is a line.
        events: Those that were checked, by arrival.
    """

    address: str
    file: Path
    port: int = 0
    process: "subprocess.Popen[bytes] | None" = None
    events: list[dict[str, Any]] = field(default_factory=list)

    @property
    def url(self) -> str:
        return f"http://{self.address}:{self.port}/hook"

    def start(self) -> None:
        """Begin to listen, on the port of before."""
        self.port = self.port or free_port()
        line = [sys.executable, "-m", __name__, self.address, str(self.port)]
        self.process = subprocess.Popen(
            [*line, str(self.file)], cwd=ROOT, stdout=subprocess.PIPE
        )
        assert self.process.stdout
        self.process.stdout.readline()  # it listens

    def kill(self) -> None:
        """End it at once."""
        assert self.process
        self.process.send_signal(signal.SIGKILL)
        self.process.wait()
        if self.process.stdout:
            self.process.stdout.close()

    def verified(self, secret: str) -> list[dict[str, Any]]:
        """Return the events by arrival, checked with the library of the standard.

        Each is checked once, because a signature counts for five minutes.
        """
        lines = self.file.read_text().splitlines() if self.file.exists() else []
        for line in lines[len(self.events) :]:
            asked = json.loads(line)
            event = Verifier(secret).verify(asked["body"], asked["headers"])
            self.events.append(event)
        return self.events

    def waits_for(self, secret: str, versions: set[int], *, timeout_s: float) -> bool:
        """Wait until the events of some versions have arrived."""

        def have_arrived() -> bool:
            found = {one["data"].get("version") for one in self.verified(secret)}
            return versions <= found

        return wait_for(have_arrived, timeout_s=timeout_s)


def main(address: str, port: str, file: str) -> None:
    """Listen until a signal ends the process."""

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["Content-Length"])).decode()
            line = json.dumps({"headers": dict(self.headers), "body": body})
            with Path(file).open("a", encoding="utf-8") as kept:
                kept.write(f"{line}\n")
            self.send_response(204)
            self.end_headers()

        def log_message(self, *_: object) -> None:
            """Say nothing."""

    server = ThreadingHTTPServer((address, int(port)), Handler)
    print("listens", flush=True)  # noqa: T201 (its starter reads it)
    server.serve_forever()


if __name__ == "__main__":
    main(*sys.argv[1:])
