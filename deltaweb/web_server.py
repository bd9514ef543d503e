"""What gunicorn does once, beside answering: its configuration in Python."""

from deltaweb.readiness import tell_ready


def when_ready(server: object) -> None:
    """Say that the port listens and the application is loaded; it answers then."""
    del server
    tell_ready()
