"""The gauges from the database; each app above adds its own.

    gauges.register(job_gauges)  # a function that yields `Gauge`

They are read every 15 seconds at most, however often Prometheus asks. Such
a module is named to `apps.operate.loading`.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Final, TypeAlias

from apps.operate.probes.parts import FAILED, states
from apps.operate.switches.state import SWITCHES
from apps.operate.switches.state import states as switches
from apps.pages.registry import Registry


@dataclass(frozen=True, slots=True, kw_only=True)
class Gauge:
    """A number of the whole installation.

    Attributes:
        name: It begins with `deltaweb_` and ends with its unit.
        labels: The names of its labels.
        values: By the values of the labels.
    """

    name: str
    help: str
    labels: tuple[str, ...] = ()
    values: Mapping[tuple[str, ...], float]


GaugeProvider: TypeAlias = Callable[[], Iterable[Gauge]]
gauges: Final[Registry[GaugeProvider]] = Registry()


def part_gauge() -> Gauge:
    """Return whether each part of the server works."""
    return Gauge(
        name="deltaweb_part_up",
        help="1 if a part of the server works or is not set up, 0 if it failed.",
        labels=("part",),
        values={
            (name,): float(state != FAILED) for name, state in states.look().items()
        },
    )


def switch_gauges() -> Iterator[Gauge]:
    """Yield which switches are off."""
    off = switches.off()
    yield Gauge(
        name="deltaweb_switched_off",
        help="1 if an administrator switched a part of the server off.",
        labels=("switch",),
        values={(name,): float(name in off) for name in SWITCHES},
    )
