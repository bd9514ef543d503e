"""`python -m deltaweb.serving`: gunicorn, which runs no code of the folder it is in."""

import os

from django.conf import settings
from gunicorn.app.wsgiapp import WSGIApplication

from deltaweb.environment import site  # noqa: F401  # the apps are found by it
from deltaweb.serving.metrics import begin_counting


class WebServer(WSGIApplication):  # type: ignore[misc]  # gunicorn has no types
    """Gunicorn, but for where it looks for modules."""

    def chdir(self) -> None:
        """Stay, and import nothing from here: it is a folder of somebody's scripts."""


if __name__ == "__main__":
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "deltaweb.settings")
    begin_counting(settings.HOME, port=settings.PORT)
    WebServer("%(prog)s [OPTIONS] [APP_MODULE]").run()
