"""The machine forms of followed subjects and notifications."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime

from apps.notices.models import Follow


@dataclass(frozen=True, slots=True, kw_only=True)
class FollowResource:
    """A subject that a person follows.

    Attributes:
        user: The name of the person.
        subject: `table`, `namespace`, `share`, `recipient`, `job` or `owned`.
        name: The name of the subject when it was followed.
        kinds: The names of the kinds of events.
        breaking_only: Whether versions and schema changes count only if they break
            readers.
        bell: Whether events are shown under the bell.
        mail: Whether events are mailed.
        webhooks: The ids of the webhooks that get the events.
        often: How often mail is sent: `once`, `daily` or `weekly`.
    """

    user: str
    subject: str
    name: str
    kinds: Sequence[str]
    breaking_only: bool
    bell: bool
    mail: bool
    webhooks: Sequence[str]
    often: str
    created_at: datetime
    id: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Following:
    """The subjects that a person follows."""

    follows: list[FollowResource]


def follow_resource(follow: Follow) -> FollowResource:
    """Return a followed subject as machine forms have it."""
    return FollowResource(
        user=follow.user.username,
        subject=follow.subject_kind,
        name=follow.subject_name,
        kinds=follow.kinds,
        breaking_only=follow.breaking_only,
        bell=follow.by_bell,
        mail=follow.by_mail,
        webhooks=[str(one.pk) for one in follow.webhooks.all()],
        often=str(follow.often),
        created_at=follow.created_at,
        id=follow.pk,
    )


def follow_resources(follows: Iterable[Follow]) -> list[FollowResource]:
    """Return followed subjects as machine forms have them."""
    return [follow_resource(one) for one in follows]
