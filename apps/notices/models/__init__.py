"""The models of events."""

from apps.notices.models.events import Event as Event
from apps.notices.models.events import EventSequence as EventSequence
from apps.notices.models.following import Attempt as Attempt
from apps.notices.models.following import Delivery as Delivery
from apps.notices.models.following import Distribution as Distribution
from apps.notices.models.following import Follow as Follow
from apps.notices.models.following import Notice as Notice
from apps.notices.models.following import Webhook as Webhook
