"""The sample table `device_readings`: structs, a map and a list of structs."""

from datetime import datetime, timedelta
from pathlib import Path
from typing import Any, Final

import numpy as np
import pyarrow as pa

from deltaweb.delta.protocol.schema import (
    ArrayType,
    MapType,
    PrimitiveType,
    StructField,
    StructType,
    arrow_schema,
)
from deltaweb.samples.scripted_table import ScriptedTable
from deltaweb.table import DeltaTable

COMMITS: Final = 6
READINGS_A_COMMIT: Final = 250
MODELS: Final = ("Aero 2", "Aero 2 Pro", "Terra 1")
CITIES: Final = (
    ("Leipzig", 51.34, 12.37),
    ("Lyon", 45.76, 4.84),
    ("Gdańsk", 54.35, 18.65),
    ("Göteborg", 57.71, 11.97),
)
_STRING = PrimitiveType("string")
_DOUBLE = PrimitiveType("double")
SCHEMA: Final = StructType(
    (
        StructField("reading_id", PrimitiveType("long"), nullable=False),
        StructField(
            "device",
            StructType(
                (
                    StructField("serial", _STRING, nullable=False),
                    StructField("model", _STRING),
                    StructField(
                        "firmware",
                        StructType(
                            (
                                StructField("version", _STRING),
                                StructField("channel", _STRING),
                            )
                        ),
                    ),
                )
            ),
        ),
        StructField(
            "location",
            StructType(
                (
                    StructField("city", _STRING),
                    StructField(
                        "latitude", _DOUBLE, metadata={"comment": "degrees, WGS 84"}
                    ),
                    StructField(
                        "longitude", _DOUBLE, metadata={"comment": "degrees, WGS 84"}
                    ),
                )
            ),
        ),
        StructField("tags", MapType(_STRING, _STRING)),
        StructField(
            "measurements",
            ArrayType(
                StructType(
                    (
                        StructField("sensor", _STRING, nullable=False),
                        StructField("value", _DOUBLE),
                        StructField("unit", _STRING),
                    )
                ),
                contains_null=False,
            ),
        ),
        StructField("payload", PrimitiveType("binary")),
        StructField("read_at", PrimitiveType("timestamp")),
    )
)


def write_device_readings(root: Path, now: datetime) -> None:
    """Write the table: created twelve days ago, then a commit every other day.

    Each commit notes how far the gateway has come, so that none is done twice.
    """
    random = np.random.default_rng(2)
    script = ScriptedTable(root)
    start = now - timedelta(days=2 * COMMITS, hours=4)
    with script.step("schema-deploy", start) as location:
        DeltaTable.create(
            location, SCHEMA, description="Air and soil sensors of four cities"
        )
    for number in range(COMMITS):
        at = start + timedelta(days=2 * number, hours=6)
        rows = _rows(random, at, 1 + number * READINGS_A_COMMIT)
        with script.step("sensor-gateway", at):
            script.table.append(rows, txn=("sensor-gateway", number))


def _rows(random: np.random.Generator, at: datetime, first_id: int) -> pa.Table:
    records = [
        _reading(random, first_id + i, at - timedelta(minutes=READINGS_A_COMMIT - i))
        for i in range(READINGS_A_COMMIT)
    ]
    return pa.Table.from_pylist(records, schema=arrow_schema(SCHEMA))


def _reading(
    random: np.random.Generator, reading_id: int, read_at: datetime
) -> dict[str, Any]:
    device = int(random.integers(1, 40))
    city, latitude, longitude = CITIES[device % len(CITIES)]
    measurements = [
        {"sensor": "air", "value": round(random.normal(9, 4), 2), "unit": "°C"},
        {"sensor": "soil", "value": round(random.uniform(10, 45), 1), "unit": "%"},
    ]
    beta = device % 7 == 0
    return {
        "reading_id": reading_id,
        "device": {
            "serial": f"SN-{device:05d}",
            "model": MODELS[device % len(MODELS)],
            "firmware": {"version": "2.4.1", "channel": "beta" if beta else "stable"},
        },
        # A device that is being moved knows no place.
        "location": None
        if device % 13 == 0
        else {"city": city, "latitude": latitude, "longitude": longitude},
        "tags": [("owner", f"team-{device % 3}"), ("indoor", str(beta).lower())],
        "measurements": measurements[: int(random.integers(1, 3))],
        "payload": random.bytes(8),
        "read_at": read_at,
    }
