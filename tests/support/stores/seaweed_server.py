"""An S3 server that keeps large lakes (SeaweedFS), in a process of its own.

Beside moto's it refuses wrong keys, tells no `<Condition>` with its 412, and lists ten
thousand folders in seconds.
"""

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import Final

import requests

from tests.support.processes.installation import wait_for
from tests.support.processes.ports import free_port
from tests.support.stores.drivers import s3_by_obstore
from tests.support.stores.s3_server import ACCESS_KEY, SECRET_KEY, S3Server

SERVER: Final = Path(sys.executable).parent / "weed"
IDENTITY: Final = {
    "name": "tests",
    "credentials": [{"accessKey": ACCESS_KEY, "secretKey": SECRET_KEY}],
    "actions": ["Admin", "Read", "Write", "List", "Tagging"],
}
ROLE_ARN: Final = "arn:aws:iam::000000000000:role/Lake"
_EVERYTHING: Final = {
    "Effect": "Allow",
    "Action": ["s3:*"],
    "Resource": ["arn:aws:s3:::*", "arn:aws:s3:::*/*"],
}
_ASSUMED: Final = {"Effect": "Allow", "Principal": "*", "Action": ["sts:AssumeRole"]}
# A role that may do everything: what is refused is so by a session's policy.
ROLES: Final = {
    "sts": {
        "tokenDuration": "1h",
        "maxSessionLength": "12h",
        "issuer": "seaweedfs-sts",
        "signingKey": "dGVzdC1zaWduaW5nLWtleS0zMi1jaGFyYWN0ZXJzLWxvbmc=",
    },
    "policy": {"defaultEffect": "Deny", "storeType": "memory"},
    "policies": [
        {
            "name": "Lake",
            "document": {"Version": "2012-10-17", "Statement": [_EVERYTHING]},
        }
    ],
    "roles": [
        {
            "roleName": "Lake",
            "roleArn": ROLE_ARN,
            "attachedPolicies": ["Lake"],
            "trustPolicy": {"Version": "2012-10-17", "Statement": [_ASSUMED]},
        }
    ],
}
PORTS: Final = (
    *("master.port", "master.port.grpc", "volume.port", "volume.port.grpc"),
    *("filer.port", "filer.port.grpc", "s3.port.grpc"),
)
MIN_FREE: Final = "200MiB"  # a disk with less left is only read
# Each bucket begins seven at a time else: a disk of some GB has no room for dozens.
ONE_VOLUME: Final = {"WEED_MASTER_VOLUME_GROWTH_COPY_1": "1"}
# Version 0 of a table of one column.
EMPTY_TABLE: Final = b"""\
{"protocol":{"minReaderVersion":1,"minWriterVersion":2}}
{"metaData":{"id":"9d1c3c8e-5a0f-4a57-9f0e-2f2c1d5b7a10","format":{"provider":"parquet",\
"options":{}},"schemaString":"{\\"type\\":\\"struct\\",\\"fields\\":[{\\"name\\":\\"id\\",\
\\"type\\":\\"long\\",\\"nullable\\":true,\\"metadata\\":{}}]}","partitionColumns":[],\
"configuration":{},"createdTime":1795000000000}}
"""


@contextmanager
def running_seaweed(folder: Path) -> Iterator[S3Server]:
    """Run a server on free ports of 127.0.0.1.

    Args:
        folder: Where it keeps everything; empty.
    """
    config = folder / "identities.json"
    config.write_text(json.dumps({"identities": [IDENTITY]}))
    roles = folder / "roles.json"
    roles.write_text(json.dumps(ROLES))
    data = folder / "data"
    data.mkdir()
    port = free_port()
    options = {
        "dir": data,
        "ip": "127.0.0.1",
        "ip.bind": "127.0.0.1",
        "master.telemetry": "false",
        "master.volumeSizeLimitMB": 64,
        "volume.max": 0,
        "volume.minFreeSpace": MIN_FREE,
        "filer.localSocket": folder / "filer.sock",
        "s3": "true",
        "s3.config": config,
        "s3.iam.config": roles,
        "s3.port": port,
        "s3.port.iceberg": 0,
        "s3.port.lance": 0,
        "s3.localSocket": folder / "s3.sock",
        **{name: free_port() for name in PORTS},
    }
    log = folder / "log"
    with log.open("wb") as out:
        server = subprocess.Popen(
            [
                SERVER,
                "server",
                *(f"-{name}={value}" for name, value in options.items()),
            ],
            cwd=folder,
            env=os.environ | ONE_VOLUME,
            stdout=out,
            stderr=out,
        )
    try:
        seaweed = S3Server(f"http://127.0.0.1:{port}")
        assert wait_for(lambda: _answers(seaweed)), log.read_text()[-2000:]
        yield seaweed
    finally:
        server.kill()  # in good order it takes its leave of nobody for half a minute
        server.wait()


def _answers(server: S3Server) -> bool:
    """Whether it takes objects: its parts start one after the other."""
    try:
        requests.get(f"{server.url}/status", timeout=5)
        server.upload(Path(__file__).parent / "__init__.py", server.new_bucket(), "")
    except Exception:  # noqa: BLE001 (whatever boto3 makes of a server that starts)
        return False
    return True


def fill_lake(server: S3Server, *, num_tables: int, a_namespace: int = 100) -> str:
    """Put empty tables into a new bucket; return the URL of the lake."""
    bucket = server.new_bucket()
    driver = s3_by_obstore(bucket, server.options)
    keys = [
        f"lake/n{number // a_namespace:03}/t{number:05}/_delta_log/{0:020}.json"
        for number in range(num_tables)
    ]
    with ThreadPoolExecutor(16) as pool:
        list(pool.map(lambda key: driver.create(key, EMPTY_TABLE), keys))
    return f"s3://{bucket}/lake"
