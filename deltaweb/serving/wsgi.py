"""WSGI entry point: the application, with all that its first answer would wait for.

gunicorn loads it once, before it forks the processes that answer: what is loaded here
may not begin a thread, nor open a file or a connection that it keeps. It stays to the
end, so looks for garbage skip it, in those processes, too.
"""

import os
from pathlib import Path

from django.core.wsgi import get_wsgi_application
from django.template import engines
from django.urls import get_resolver, reverse

from deltaweb.environment.own_process import prepare_process, rare_collections


def _load_pages() -> None:
    """Load the views and what they import, the templates, and what draws."""
    get_resolver().check()
    reverse("jobs:status")
    for engine in engines.all():
        for folder in map(Path, engine.dirs):
            for path in folder.rglob("*.html"):
                engine.get_template(path.relative_to(folder).as_posix())
    from apps.explorer.history.chart import daily_bars  # noqa: PLC0415 (needs the application)

    daily_bars((), {})
    from apps.jobs.broker import waking  # noqa: PLC0415 (as above)

    waking.load()
    from apps.news.channels import choice  # noqa: PLC0415 (as above)

    choice.load()
    from apps.pages.request.lock_waits import wait_shortly  # noqa: PLC0415 (as above)

    wait_shortly()


prepare_process()
os.environ.setdefault("DJANGO_SETTINGS_MODULE", "deltaweb.settings")
with rare_collections():
    application = get_wsgi_application()
    _load_pages()
