"""The errors of following and webhooks; all are `PageError`s."""

from apps.pages.errors import PageError


class SubjectNotFollowableError(PageError, code="not-followable"):
    """A kind of subject that cannot be followed."""

    kind: str
    known: str
    status = 422
    message = "{kind:.40r} cannot be followed."
    hint = "Choose one of {known}."


class EventKindUnknownError(PageError, code="event-kind-unknown"):
    """A kind of event that does not exist, or that a subject does not have."""

    kind: str
    known: str
    status = 422
    message = "{kind:.60r} is not a kind of event here."
    hint = "Choose one of {known}."


class FollowNotFoundError(PageError, code="follow-not-found"):
    """A subject that the user does not follow."""

    name: str
    status = 404
    message = "You do not follow {name:.200r}."
    hint = "'deltaweb follow list' lists what is followed."


class NoChannelError(PageError, code="no-channel"):
    """Notifications that would reach no person."""

    status = 422
    message = "Choose at least one channel."
    hint = "The bell needs nothing else. Mail needs a confirmed address."


class NothingChosenError(PageError, code="no-event-kind"):
    """A subject that would be followed for no event."""

    status = 422
    message = "Choose at least one event."
    hint = "To get none, stop following."


class WebhookNotFoundError(PageError, code="webhook-not-found"):
    """A webhook that does not exist, or belongs to another user."""

    name: str
    status = 404
    message = "There is no webhook {name:.80r}."
    hint = "'deltaweb webhook list' lists all webhooks."


class WebhookURLError(PageError, code="webhook-url-invalid"):
    """An address that no event is sent to."""

    host: str
    reason: str
    status = 422
    message = "No event can be sent to {host:.200r}: {reason}."
    hint = (
        "Use https and a public host. An administrator names hosts of the own network "
        "in DELTAWEB_WEBHOOK_HOSTS."
    )


class WebhookNotPausedError(PageError, code="webhook-not-paused"):
    """A webhook that sends already."""

    host: str
    status = 409
    message = "The webhook {host:.200r} is not paused."
    hint = "Its events are sent as they come."


class TooManyFollowedError(PageError, code="too-many-followed"):
    """More subjects or webhooks than one person may have."""

    most: int
    status = 422
    message = "One person can have {most:,} of them at most."
    hint = "Follow a namespace instead of its tables."


class DeliveryNotFoundError(PageError, code="delivery-not-found"):
    """A delivery that does not exist, or belongs to another webhook."""

    status = 404
    message = "There is no such delivery."
    hint = "Deliveries are kept as long as their events."


class SubjectUnknownError(PageError, code="subject-unknown"):
    """Something to follow that does not exist, or is hidden from the user."""

    kind: str
    name: str
    status = 404
    message = "There is no {kind} {name:.100r}."
    hint = "Follow it on its own page."


class PersonRequiredError(PageError, code="person-required"):
    """A command that does not say whom it is about."""

    status = 422
    message = "There are several accounts."
    hint = "Name one with --user."
