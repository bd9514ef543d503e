"""Every setting of deltaweb: a table of typed reads from DELTAWEB_* variables.

Without a variable the embedded mode is complete: SQLite, a broker in a folder,
local Spark. The manual documents each variable (operate/settings.md); a test
compares the two.
"""

from importlib.util import find_spec
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import dj_database_url
from csp.constants import SELF

from deltaweb.environment import home
from deltaweb.environment.logs import log_settings
from deltaweb.environment.production import check_production
from deltaweb.environment.sign_on import check_issuer_url, check_roles, origins_of
from deltaweb.environment.site import MANUAL as MANUAL  # noqa: PLC0414 (settings.MANUAL)
from deltaweb.environment.site import SITE as SITE  # noqa: PLC0414 (settings.SITE)
from deltaweb.environment.variables import (
    env_bool,
    env_choice,
    env_header,
    env_int,
    env_list,
    env_log_place,
    env_networks,
    env_pairs,
    env_prices,
    env_relay,
    env_roots,
    env_secret,
    env_text,
    env_url,
    env_word,
    require,
    require_package,
)
from deltaweb.version import VERSION as VERSION  # noqa: PLC0414 (settings.VERSION)

PACKAGE_DIR = Path(__file__).resolve().parent

# === Mode ===
PRODUCTION = env_bool("DELTAWEB_PRODUCTION", default=False)
EMBEDDED = not PRODUCTION
if PRODUCTION:
    for _name in ("SECRET_KEY", "ALLOWED_HOSTS", "PUBLIC_URL", "ALLOWED_ROOTS"):
        require(f"DELTAWEB_{_name}")
DEBUG = env_bool("DELTAWEB_DEBUG", default=False)
HOME = home.open_home(
    Path(env_text("DELTAWEB_HOME", default=str(home.default_home(PACKAGE_DIR))))
)
SECRET_KEY = env_secret(
    "DELTAWEB_SECRET_KEY", default=home.secret_key(HOME) if EMBEDDED else None
)
# Keys of before: what they signed or sealed is still accepted, nothing new is made.
SECRET_KEY_FALLBACKS = env_list("DELTAWEB_SECRET_KEY_FALLBACKS", default=[])
LOOPBACK = ["127.0.0.1", "localhost", "[::1]"]
ALLOWED_HOSTS = env_list("DELTAWEB_ALLOWED_HOSTS", default=LOOPBACK)
PORT = env_int("PORT", default=8000, minimum=1, maximum=65535)
# A command that is told of no port links to what was served last.
_served_url = "" if env_text("PORT") else home.served_url(HOME)
PUBLIC_URL = env_text(
    "DELTAWEB_PUBLIC_URL", default=_served_url or f"http://127.0.0.1:{PORT}"
).rstrip("/")
# A path in it is a prefix that the proxy takes away again: links begin with it.
FORCE_SCRIPT_NAME = urlsplit(PUBLIC_URL).path or None
WEB_PROCESSES = env_int("DELTAWEB_WEB_PROCESSES", default=2, minimum=1, maximum=64)
# Longer than proxies keep idle connections, which is usually 60 or 75 s: whoever closes
# last never sends a request into a connection that the other side has just closed.
KEEP_ALIVE_S = env_int("DELTAWEB_KEEP_ALIVE_S", default=90, minimum=1, maximum=3600)
WEB_THREADS = env_int("DELTAWEB_WEB_THREADS", default=8, minimum=1, maximum=256)
# Threads of the worker that runs Spark jobs; 0 starts no worker at all.
WORKERS = env_int("WORKERS", default=1, minimum=0, maximum=64)
LOG_LEVEL = env_text("DELTAWEB_LOG_LEVEL", default="INFO").upper()

# The addresses that may read /metrics; programs of this machine always may.
METRICS_NETWORKS = env_networks("DELTAWEB_METRICS_NETWORKS")
METRICS_KEY = env_secret("DELTAWEB_METRICS_KEY", is_needed=False)
# What logs look like: `text` for people, `json` for machines.
LOG_FORMAT = env_word("DELTAWEB_LOG_FORMAT", default="text", words=("text", "json"))
ACCESS_LOG = env_bool("DELTAWEB_ACCESS_LOG", default=False)

# === Tables ===
# None: administrators and the command line may register any location.
ALLOWED_ROOTS: list[str] | None = env_roots("DELTAWEB_ALLOWED_ROOTS") or None
# Hosts that storage connections may lead to; none is every public one.
STORAGE_HOSTS = env_list("DELTAWEB_STORAGE_HOSTS", default=[])
if PRODUCTION:
    check_production(
        debug=DEBUG,
        secret_key=SECRET_KEY,
        allowed_hosts=ALLOWED_HOSTS,
        public_url=PUBLIC_URL,
        allowed_roots=ALLOWED_ROOTS or [],
    )
PROBE_INTERVAL_S = env_int(
    "DELTAWEB_PROBE_INTERVAL_S", default=60, minimum=1, maximum=86_400
)

# === Sharing ===
FILE_URL_LIFETIME_S = env_int(
    "DELTAWEB_FILE_URL_LIFETIME_S", default=3600, minimum=1, maximum=7 * 86_400
)
PART_URL_LIFETIME_S = env_int(
    "DELTAWEB_PART_URL_LIFETIME_S", default=900, minimum=1, maximum=3600
)
TOKEN_MAX_DAYS = env_int(
    "DELTAWEB_TOKEN_MAX_DAYS", default=365, minimum=1, maximum=3650
)
ACTIVATION_LINK_LIFETIME_S = env_int(
    "DELTAWEB_ACTIVATION_LINK_LIFETIME_S",
    default=7 * 86_400,
    minimum=60,
    maximum=90 * 86_400,
)
REQUESTS_PER_S = env_int(
    "DELTAWEB_REQUESTS_PER_S", default=1000, minimum=1, maximum=1_000_000
)
REQUEST_BURST = env_int(
    "DELTAWEB_REQUEST_BURST", default=20_000, minimum=1, maximum=10_000_000
)
# Whether recipients can read in the browser, where their share or they are let in.
BROWSER_READING = env_bool("DELTAWEB_BROWSER_READING", default=False)
PREPARED_FILES = env_text("DELTAWEB_PREPARED_FILES", default=str(HOME / "prepared"))
PREPARED_BYTES = env_int(
    "DELTAWEB_PREPARED_BYTES", default=100 << 30, minimum=0, maximum=1 << 60
)
PREPARED_DAYS = env_int("DELTAWEB_PREPARED_DAYS", default=30, minimum=1, maximum=3650)
PREPARED_WAIT_S = env_int(
    "DELTAWEB_PREPARED_WAIT_S", default=20, minimum=0, maximum=300
)
REHEARSAL_HOUR = env_int("DELTAWEB_REHEARSAL_HOUR", default=-1, minimum=-1, maximum=23)
REHEARSAL_PYTHON = env_text("DELTAWEB_REHEARSAL_PYTHON")  # with clients of its own
PRICES = env_prices("DELTAWEB_PRICES")  # of a GiB, by prefix of the table's location
CURRENCY = env_text("DELTAWEB_CURRENCY", default="USD")
PROVIDER_NAME = env_text("DELTAWEB_PROVIDER_NAME", default="deltaweb")
PROVIDER_CONTACT = env_text("DELTAWEB_PROVIDER_CONTACT")
REMINDER_HOUR = env_int("DELTAWEB_REMINDER_HOUR", default=-1, minimum=-1, maximum=23)
_RELAY = env_relay("DELTAWEB_SMTP_HOST")  # for reminders, and links that sign in
EMAIL_HOST, EMAIL_PORT = _RELAY.host, _RELAY.port
EMAIL_HOST_USER, EMAIL_HOST_PASSWORD = _RELAY.user, _RELAY.password
EMAIL_USE_TLS, EMAIL_USE_SSL = _RELAY.begins_tls, _RELAY.is_tls
EMAIL_TIMEOUT = 20
WEBHOOK_URL = env_text("DELTAWEB_WEBHOOK_URL")  # for reminders
# Hosts of the own network that webhooks may lead to. They may lead to any public host.
WEBHOOK_HOSTS = env_list("DELTAWEB_WEBHOOK_HOSTS", default=[])
WEBHOOK_SECRET = env_secret("DELTAWEB_WEBHOOK_SECRET") if WEBHOOK_URL else ""
EVENT_DAYS = env_int("DELTAWEB_EVENT_DAYS", default=30, minimum=1, maximum=3650)
TRUSTED_PROXIES = env_networks("DELTAWEB_TRUSTED_PROXIES")

# === Applications ===
INSTALLED_APPS = [
    "deltaweb",
    "apps.pages",
    "apps.operate",
    "apps.news",
    "apps.accounts",
    "apps.audit",
    "apps.jobs",
    "apps.notices",
    "apps.tables",
    "apps.explorer",
    "apps.sharing",
    "apps.api",
    "django.contrib.auth",
    "django.contrib.contenttypes",
    "django.contrib.sessions",
    "django.contrib.messages",
    "whitenoise.runserver_nostatic",
    "django.contrib.staticfiles",
    "django_htmx",
]
MIDDLEWARE = [
    "apps.operate.probe_addresses.probes",
    "apps.sharing.api.middleware.single_slashes",
    "apps.pages.request.middleware.request_id",
    "apps.operate.requests.observed",
    "apps.sharing.portal.middleware.own_cookies",
    "apps.sharing.api.middleware.protocol_answers",
    "django.middleware.security.SecurityMiddleware",
    "whitenoise.middleware.WhiteNoiseMiddleware",
    "csp.middleware.CSPMiddleware",
    "django.contrib.sessions.middleware.SessionMiddleware",
    "django.middleware.common.CommonMiddleware",
    "django.middleware.csrf.CsrfViewMiddleware",
    "django.contrib.auth.middleware.AuthenticationMiddleware",
    "apps.accounts.middleware.remote_user",
    "apps.accounts.middleware.bounded_sessions",
    "apps.accounts.middleware.api_key_authentication",
    "apps.pages.request.server_paths.remember_reader",
    "django.contrib.messages.middleware.MessageMiddleware",
    "django.middleware.clickjacking.XFrameOptionsMiddleware",
    "django_htmx.middleware.HtmxMiddleware",
    "apps.accounts.middleware.sign_in_required",
    "apps.pages.request.prefetching.prefetching",
    "apps.operate.switches.middleware.SharingSwitchMiddleware",
    "apps.pages.request.middleware.TidyAddressMiddleware",
    "apps.pages.request.middleware.PageErrorMiddleware",
]
ROOT_URLCONF = "deltaweb.urls"
WSGI_APPLICATION = "deltaweb.serving.wsgi.application"
TEMPLATES: list[dict[str, Any]] = [
    {
        "BACKEND": "django.template.backends.django.DjangoTemplates",
        "DIRS": [SITE / "templates"],
        "OPTIONS": {
            # As the package's own application would have it, which imports Django's
            # administration into every process.
            "loaders": [
                (
                    "template_partials.loader.Loader",
                    [
                        (
                            "django.template.loaders.cached.Loader",
                            [
                                "django.template.loaders.filesystem.Loader",
                                "django.template.loaders.app_directories.Loader",
                            ],
                        )
                    ],
                )
            ],
            "context_processors": [
                "django.template.context_processors.request",
                "django.contrib.auth.context_processors.auth",
                "django.contrib.messages.context_processors.messages",
                "apps.pages.request.context.page",
            ],
            "libraries": {"partials": "template_partials.templatetags.partials"},
            "builtins": [
                "apps.pages.templatetags.deltaweb",
                "django.templatetags.static",
                "template_partials.templatetags.partials",
            ],
        },
    }
]
DEFAULT_AUTO_FIELD = "django.db.models.BigAutoField"
LANGUAGE_CODE = "en"
TIME_ZONE = "UTC"
USE_TZ = True
USE_I18N = False

# === Database ===
DATABASES: dict[str, Any] = {
    "default": dj_database_url.parse(
        env_url(
            "DELTAWEB_DATABASE_URL",
            default=f"sqlite:///{HOME}/deltaweb.sqlite3",
            schemes={"postgres", "postgresql", "sqlite"},
        ),
        conn_max_age=60,
        conn_health_checks=True,
    )
}
if DATABASES["default"]["ENGINE"] == "django.db.backends.postgresql":
    require_package("DELTAWEB_DATABASE_URL", "psycopg")
if DATABASES["default"]["ENGINE"] == "django.db.backends.sqlite3":
    # Readers never wait for the writer (WAL), a writer waits for its turn from the
    # start (IMMEDIATE) instead of failing in the middle of a transaction.
    DATABASES["default"]["OPTIONS"] = {
        "timeout": 30,
        "transaction_mode": "IMMEDIATE",
        "init_command": "PRAGMA journal_mode=WAL; PRAGMA synchronous=NORMAL;",
    }

# Of backups, and of the copy before a migration of PostgreSQL; "" asks or is plain.
BACKUP_PASSPHRASE = (
    env_secret("DELTAWEB_BACKUP_PASSPHRASE")
    if env_text(_PASSPHRASE := "DELTAWEB_BACKUP_PASSPHRASE")
    or env_text(f"{_PASSPHRASE}_FILE")
    else ""
)

# === Background work ===
EMBEDDED_BROKER_URL = "filesystem://localhost/"
BROKER_URL = env_url(
    "DELTAWEB_BROKER_URL",
    default=EMBEDDED_BROKER_URL,
    schemes={"amqp", "amqps", "filesystem", "redis", "rediss"},
)
if BROKER_URL.startswith("redis"):
    require_package("DELTAWEB_BROKER_URL", "redis")
CELERY_BROKER_URL = BROKER_URL
CELERY_BROKER_CONNECTION_RETRY_ON_STARTUP = True
CELERY_TASK_ALWAYS_EAGER = env_bool("DELTAWEB_EAGER", default=False)
CELERY_TASK_IGNORE_RESULT = True
CELERY_TASK_DEFAULT_QUEUE = "default"
CELERY_WORKER_PREFETCH_MULTIPLIER = 1
CELERY_WORKER_HIJACK_ROOT_LOGGER = False
CELERY_WORKER_ENABLE_REMOTE_CONTROL = False
CELERY_BEAT_SCHEDULE = {
    # A tick that no worker took in time is dropped: the next one does its work.
    name: {"task": task, "schedule": every_s, "options": {"expires": every_s}}
    for name, task, every_s in (
        ("sweep-jobs", "jobs.sweep_leases", 10.0),
        ("probe-tables", "tables.probe_due", 5.0),
        ("keep-audit", "audit.keep", 10.0),
        ("publish-events", "notices.publish", 5.0),
    )
}
CELERY_BEAT_SCHEDULE_FILENAME = str(HOME / "beat-schedule")
if BROKER_URL == EMBEDDED_BROKER_URL:
    _broker = HOME / "broker" / "queue"
    _broker.mkdir(parents=True, exist_ok=True)
    CELERY_BROKER_TRANSPORT = "apps.jobs.broker.file_broker:Transport"
    CELERY_BROKER_TRANSPORT_OPTIONS: dict[str, Any] = {"folder": str(_broker)}
# Where jobs find the application that wakes workers; most commands never load it.
JOBS_APPLICATION = "deltaweb.celery.app"
# Days for which jobs, the audit record and archived commits are kept (0: for ever).
JOB_DAYS = env_int("DELTAWEB_JOB_DAYS", default=30, minimum=1, maximum=3650)
AUDIT_DAYS = env_int("DELTAWEB_AUDIT_DAYS", default=0, minimum=0, maximum=36_500)
ARCHIVE_DAYS = env_int("DELTAWEB_ARCHIVE_DAYS", default=0, minimum=0, maximum=36_500)
# Where the audit record is written as well: a file, or syslog.
AUDIT_LOG = env_log_place("DELTAWEB_AUDIT_LOG")
JOB_LEASE_S = env_int("DELTAWEB_JOB_LEASE_S", default=60, minimum=2, maximum=3600)
# Of a job that reads files, or evaluates conditions: one that takes more is ended.
JOB_MEMORY_BYTES = env_int(
    "DELTAWEB_JOB_MEMORY_BYTES", default=4 << 30, minimum=256 << 20, maximum=1 << 50
)
# The limits of one check of a provider of received shares, over all its requests.
RECEIVED_CHECK_S = env_int(
    "DELTAWEB_RECEIVED_CHECK_S", default=120, minimum=1, maximum=3600
)
RECEIVED_CHECK_BYTES = env_int(
    "DELTAWEB_RECEIVED_CHECK_BYTES", default=1 << 30, minimum=1 << 16, maximum=1 << 40
)
RECEIVED_CHECK_PAGES = env_int(
    "DELTAWEB_RECEIVED_CHECK_PAGES", default=2_000, minimum=1, maximum=1 << 20
)
RECEIVED_CHECK_LINES = env_int(
    "DELTAWEB_RECEIVED_CHECK_LINES", default=2_000_000, minimum=1, maximum=1 << 30
)
SPARK_MASTER = env_text("DELTAWEB_SPARK_MASTER", default="local[*]")
SPARK_DRIVER_MEMORY = env_text("DELTAWEB_SPARK_DRIVER_MEMORY", default="2g")
# Of a file that is brought to be imported: the web server takes requests of 4 MiB.
UPLOAD_BYTES = env_int(
    "DELTAWEB_UPLOAD_BYTES", default=4_000_000, minimum=0, maximum=1 << 40
)
# Of all files that wait to be imported, and of those of one user.
UPLOADS_USER_BYTES = env_int(
    "DELTAWEB_UPLOADS_USER_BYTES", default=100_000_000, minimum=0, maximum=1 << 50
)
UPLOADS_BYTES = env_int(
    "DELTAWEB_UPLOADS_BYTES", default=1_000_000_000, minimum=0, maximum=1 << 50
)
# While Spark does not run, a worker reads logs of no more itself; 0 for none.
SMALL_LOG_BYTES = env_int(
    "DELTAWEB_SMALL_LOG_BYTES", default=8 << 20, minimum=0, maximum=1 << 40
)
# How long a worker reads small logs before it starts Spark as well.
SPARK_AFTER_S = env_int("DELTAWEB_SPARK_AFTER_S", default=1, minimum=0, maximum=86_400)
# A larger log is replayed by Spark itself; smaller ones, a table a task.
SPARK_REPLAY_BYTES = env_int(
    "DELTAWEB_SPARK_REPLAY_BYTES", default=2 << 30, minimum=0, maximum=1 << 50
)
# Rows of more bytes of data files are compared by Spark, not by one process.
SPARK_DIFF_BYTES = env_int(
    "DELTAWEB_SPARK_DIFF_BYTES", default=512 << 20, minimum=0, maximum=1 << 50
)
# A larger footer of a Parquet file is not inspected; a file's length has four bytes.
PARQUET_FOOTER_BYTES = env_int(
    "DELTAWEB_PARQUET_FOOTER_BYTES", default=512 << 20, minimum=1 << 20, maximum=1 << 32
)
STORAGE_TIMEOUT_S = 1.0  # of a page that reads storage while a person waits for it

# === People ===
AUTH_USER_MODEL = "accounts.User"
LOGIN_URL = "accounts:sign-in"
LOGIN_REDIRECT_URL = "explorer:dashboard"
AUTH_PASSWORD_VALIDATORS = [
    {
        "NAME": "django.contrib.auth.password_validation.MinimumLengthValidator",
        "OPTIONS": {"min_length": 10},
    },
    {"NAME": "django.contrib.auth.password_validation.CommonPasswordValidator"},
]
PASSWORD_HASHERS = ["apps.accounts.services.hashing.BoundedPBKDF2PasswordHasher"]
SIGN_IN_LINK_LIFETIME_S = 15 * 60
# By an authenticating proxy: the headers that it sets, and where it sends from.
REMOTE_USER_HEADER = env_header("DELTAWEB_REMOTE_USER_HEADER")
REMOTE_GROUPS_HEADER = env_header("DELTAWEB_REMOTE_GROUPS_HEADER")
REMOTE_EMAIL_HEADER = env_header("DELTAWEB_REMOTE_EMAIL_HEADER")
REMOTE_USER_PROXIES = env_networks("DELTAWEB_REMOTE_USER_PROXIES")
REMOTE_SIGN_OUT_URL = env_text("DELTAWEB_REMOTE_SIGN_OUT_URL")
if REMOTE_USER_HEADER:
    require("DELTAWEB_REMOTE_USER_PROXIES", because="DELTAWEB_REMOTE_USER_HEADER")
# By an OpenID Connect provider.
OIDC_ISSUER = env_text("DELTAWEB_OIDC_ISSUER")
OIDC_CLIENT_ID = env_text("DELTAWEB_OIDC_CLIENT_ID")
OIDC_CLIENT_SECRET = env_secret("DELTAWEB_OIDC_CLIENT_SECRET") if OIDC_ISSUER else ""
OIDC_SCOPES = env_text("DELTAWEB_OIDC_SCOPES", default="openid email profile")
OIDC_GROUPS_CLAIM = env_text("DELTAWEB_OIDC_GROUPS_CLAIM", default="groups")
OIDC_NAME_CLAIM = env_text("DELTAWEB_OIDC_NAME_CLAIM", default="preferred_username")
OIDC_LABEL = env_text("DELTAWEB_OIDC_LABEL", default="single sign-on")
if OIDC_ISSUER:
    require("DELTAWEB_OIDC_CLIENT_ID", because="DELTAWEB_OIDC_ISSUER")
    check_issuer_url(OIDC_ISSUER, production=PRODUCTION)
AUTHENTICATION_BACKENDS = ["django.contrib.auth.backends.ModelBackend"]
if OIDC_ISSUER:
    AUTHENTICATION_BACKENDS.append("apps.accounts.sign_on.oidc.Backend")
# The rules of admission. Without one, only people whom an administrator names.
SSO_REQUIRED_GROUPS = env_list("DELTAWEB_SSO_REQUIRED_GROUPS", default=[])
SSO_REQUIRED_CLAIMS = env_pairs("DELTAWEB_SSO_REQUIRED_CLAIMS")
SSO_DOMAINS = env_list("DELTAWEB_SSO_DOMAINS", default=[])
SSO_ROLES = env_pairs("DELTAWEB_SSO_ROLES")
check_roles(SSO_ROLES)
HAS_SIGN_ON = bool(OIDC_ISSUER or REMOTE_USER_HEADER)
# After these days without a sign-on, the keys of a person are suspended.
SSO_KEY_DAYS = env_int("DELTAWEB_SSO_KEY_DAYS", default=7, minimum=1, maximum=90)
LOCAL_ACCOUNTS = env_choice(
    "DELTAWEB_LOCAL_ACCOUNTS", default="true", choices=("true", "keys", "false")
)
# A provider names a person at the sign-in only, so its sessions are short.
SESSION_COOKIE_AGE = 3600 * env_int(
    "DELTAWEB_SESSION_HOURS",
    default=8 if HAS_SIGN_ON else 14 * 24,
    minimum=1,
    maximum=90 * 24,
)
SESSION_COOKIE_SAMESITE = "Lax"
# Below a prefix, cookies stay there. Their names differ as well, because a browser also
# sends those of an installation above it.
_PREFIXED = "".join(
    c if c.isalnum() else "_" for c in ascii(FORCE_SCRIPT_NAME or "")[1:-1]
)
SESSION_COOKIE_PATH = CSRF_COOKIE_PATH = FORCE_SCRIPT_NAME or "/"
SESSION_COOKIE_NAME = f"deltaweb_session{_PREFIXED}"
CSRF_COOKIE_NAME = f"deltaweb_csrf{_PREFIXED}"
MESSAGES_COOKIE_NAME = f"messages{_PREFIXED}"
# Of recipients who read in the browser, below the address of their page alone.
RECIPIENT_COOKIE_NAME = f"deltaweb_recipient{_PREFIXED}"
RECIPIENT_COOKIE_PATH = f"{FORCE_SCRIPT_NAME or ''}/portal/"
MESSAGE_STORAGE = "apps.pages.request.message_cookies.PrefixedStorage"

# === Security headers ===
CONTENT_SECURITY_POLICY = {
    "DIRECTIVES": {
        "default-src": [SELF],
        "script-src": [SELF],
        "style-src": [SELF],
        "img-src": [SELF, "data:", "blob:"],
        "object-src": ["'none'"],
        "base-uri": ["'none'"],
        # A button that signs out leads to the provider or the proxy.
        "form-action": [SELF, *origins_of(OIDC_ISSUER, REMOTE_SIGN_OUT_URL)],
        "frame-ancestors": ["'none'"],
    }
}
SECURE_REFERRER_POLICY = "same-origin"
X_FRAME_OPTIONS = "DENY"
CSRF_TRUSTED_ORIGINS = [PUBLIC_URL.removesuffix(FORCE_SCRIPT_NAME or "")]
CSRF_FAILURE_VIEW = "apps.pages.views.csrf_failure"
_HTTPS = PRODUCTION or PUBLIC_URL.startswith("https://")
SESSION_COOKIE_SECURE = CSRF_COOKIE_SECURE = _HTTPS
if PRODUCTION:
    SECURE_SSL_REDIRECT = env_bool("DELTAWEB_SSL_REDIRECT", default=True)
    SECURE_PROXY_SSL_HEADER = ("HTTP_X_FORWARDED_PROTO", "https")
    # Of this host alone: others of its domain may not have HTTPS.
    SECURE_HSTS_SECONDS = 365 * 24 * 3600
    SILENCED_SYSTEM_CHECKS = ["security.W005", "security.W021"]

# === REST ===
API_REQUESTS_PER_S = env_int(
    "DELTAWEB_API_REQUESTS_PER_S", default=100, minimum=1, maximum=1_000_000
)
API_REQUEST_BURST = env_int(
    "DELTAWEB_API_REQUEST_BURST", default=2000, minimum=1, maximum=10_000_000
)
SPECTACULAR_SETTINGS = {
    "OAS_VERSION": "3.1.1",
    "TITLE": "deltaweb",
    "VERSION": VERSION,
    "SCHEMA_PATH_PREFIX": "/api/v1",
    "SECURITY": [{"key": []}],
    "APPEND_COMPONENTS": {
        "securitySchemes": {"key": {"type": "http", "scheme": "bearer"}}
    },
}

# === Static files ===
STATIC_URL = f"{FORCE_SCRIPT_NAME or ''}/static/"
STATIC_ROOT = PACKAGE_DIR / "staticfiles"
STATICFILES_DIRS: list[Any] = [SITE / "static"]
# What the reference of the REST API needs. A wheel has it collected.
if (_SIDECAR := find_spec("drf_spectacular_sidecar")) is not None:
    _FILES = Path(str(_SIDECAR.origin)).parent / "static" / "drf_spectacular_sidecar"
    STATICFILES_DIRS.append(("swagger-ui", _FILES / "swagger-ui-dist"))
STORAGES = {
    "default": {"BACKEND": "django.core.files.storage.FileSystemStorage"},
    "staticfiles": {
        "BACKEND": "whitenoise.storage.CompressedManifestStaticFilesStorage"
    },
}

# === Logs ===
LOGGING = log_settings(LOG_LEVEL, log_format=LOG_FORMAT, access=ACCESS_LOG)
