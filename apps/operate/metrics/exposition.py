"""The text that Prometheus reads."""

import os
import threading
import time
from collections.abc import Callable, Iterable, Iterator
from typing import Final

from django.db import DatabaseError, InterfaceError
from prometheus_client import CollectorRegistry, generate_latest
from prometheus_client.core import GaugeMetricFamily
from prometheus_client.exposition import CONTENT_TYPE_PLAIN_0_0_4
from prometheus_client.multiprocess import MultiProcessCollector
from prometheus_client.registry import Collector

from apps.operate.loading import load
from apps.operate.metrics.counters import REGISTRY
from apps.operate.metrics.gauges import Gauge, gauges, part_gauge, switch_gauges

CONTENT_TYPE: Final = CONTENT_TYPE_PLAIN_0_0_4
FOLDER: Final = "PROMETHEUS_MULTIPROC_DIR"
"""The variable by which the library knows that several processes count."""
KEPT_S: Final = 15.0


class GaugeCollector(Collector):
    """The gauges of all apps, as Prometheus's library takes them."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._lock = threading.Lock()
        self._read_s: float | None = None
        self._found: list[Gauge] = []

    def collect(self) -> Iterator[GaugeMetricFamily]:
        """Yield each gauge; those of the database are missing while it is down."""
        for one in self.read():
            family = GaugeMetricFamily(one.name, one.help, labels=one.labels)
            for labels, value in one.values.items():
                family.add_metric(labels, value)
            yield family

    def describe(self) -> Iterable[GaugeMetricFamily]:
        """Name none at registration: they are known when they are read."""
        return ()

    def forget(self) -> None:
        """Read again at the next question."""
        with self._lock:
            self._read_s = None

    def read(self) -> list[Gauge]:
        """Return the gauges, which may be `KEPT_S` seconds old."""
        with self._lock:
            now_s = self._clock()
            if self._read_s is None or now_s - self._read_s >= KEPT_S:
                try:
                    load()
                    found = [one for provider in gauges for one in provider()]
                except (DatabaseError, InterfaceError):
                    found = []
                self._found, self._read_s = found, now_s
            return [part_gauge(), *self._found]


gauges.register(switch_gauges)
collector: Final = GaugeCollector()
_GAUGES: Final = CollectorRegistry()
_GAUGES.register(collector)


def text() -> bytes:
    """Return all metrics."""
    return generate_latest(_counted()) + generate_latest(_GAUGES)


def _counted() -> CollectorRegistry:
    """Return what all processes counted, or this one if it counts alone."""
    if not os.environ.get(FOLDER):
        return REGISTRY
    registry = CollectorRegistry()
    MultiProcessCollector(registry)  # type: ignore[no-untyped-call]  # it has no types
    return registry
