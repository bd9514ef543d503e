"""The settings of the tests: the embedded mode with a home of its own.

pytest-django loads the settings before any conftest, so the home is chosen here.
"""

import atexit
import os
import shutil
import tempfile

_HOME = tempfile.mkdtemp(prefix="deltaweb-test-")
atexit.register(shutil.rmtree, _HOME, ignore_errors=True)
os.environ["DELTAWEB_HOME"] = _HOME
os.environ.setdefault("DELTAWEB_LOG_LEVEL", "ERROR")
os.environ["LANGUAGE"] = "C"  # else argparse looks for translations, time and again
os.environ["DELTAWEB_STORAGE_HOSTS"] = "127.0.0.1"  # where the stores of tests are
# Test processes that run side by side share one Redis server, but no queue.
_broker = os.environ.get("DELTAWEB_BROKER_URL", "")
_number = os.environ.get("PYTEST_XDIST_WORKER", "gw0").removeprefix("gw")
if _broker.startswith("redis://") and _broker.endswith("/0"):
    os.environ["DELTAWEB_BROKER_URL"] = _broker.removesuffix("0") + _number

from deltaweb.settings import *  # noqa: E402, F403 (the settings under test)

# Templates name files by their plain names: hashed ones need collectstatic first.
STORAGES = {
    "default": {"BACKEND": "django.core.files.storage.FileSystemStorage"},
    "staticfiles": {"BACKEND": "django.contrib.staticfiles.storage.StaticFilesStorage"},
}
WHITENOISE_AUTOREFRESH = True
STORAGE_TIMEOUT_S = 60.0  # what it takes on a loaded machine
PASSWORD_HASHERS = ["django.contrib.auth.hashers.MD5PasswordHasher"]

if DATABASES["default"]["ENGINE"] == "django.db.backends.sqlite3":  # noqa: F405 (as above)
    # A file, as in life: threads that share one in memory lock whole tables.
    DATABASES["default"]["TEST"] = {"NAME": f"{_HOME}/test.sqlite3"}  # noqa: F405 (as above)
