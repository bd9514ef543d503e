"""A web process that keeps much memory, and what it has begun."""

import contextlib
import http.client
from pathlib import Path

from tests.functional.web_server.patient_server import (
    ANSWERED_S,
    PATIENCE_S,
    is_served,
    process_of,
    serving,
)
from tests.support.processes.installation import wait_for

FILE_BYTES = 24 << 20


def test_gives_its_memory_back_and_drops_nobody(tmp_path: Path) -> None:
    file = tmp_path / "rows"
    file.write_bytes(bytes(FILE_BYTES))
    options = ("--config", "python:deltaweb.serving.server")
    with serving(tmp_path, PATIENCE_S, *options, retire_bytes=256 << 20) as port:
        download = http.client.HTTPConnection("127.0.0.1", port, timeout=ANSWERED_S)
        with contextlib.closing(download):
            download.request("GET", f"/rows?{file}")
            answer = download.getresponse()

            large = process_of(port, "x")
            assert wait_for(lambda: process_of(port) != large)
            assert is_served(port)
            assert Path(f"/proc/{large}").exists()
            assert len(answer.read()) == FILE_BYTES

        assert wait_for(lambda: not Path(f"/proc/{large}").exists())
        small = process_of(port)
        status = Path(f"/proc/{small}/status").read_text()
        master = next(n.split()[1] for n in status.splitlines() if "PPid" in n)
        children = Path(f"/proc/{master}/task/{master}/children")
        assert wait_for(lambda: children.read_text().split() == [str(small)])
        assert process_of(port) == small
