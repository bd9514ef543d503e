"""ASGI entry point."""

import os

from django.core.asgi import get_asgi_application

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "deltaweb.settings")
application = get_asgi_application()

from apps.pages.request.lock_waits import wait_shortly  # noqa: E402 (needs the application)

wait_shortly()
