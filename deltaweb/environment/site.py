"""The folder with the apps, templates and static files, which is first in `sys.path`.

In a checkout that is the repository. A wheel has it in `deltaweb/_site`, so that it
installs one top-level name, and a program that uses the library sees no module `apps`.
Importing this module puts the folder first: a package `apps` of somebody else is never
imported instead. Settings import it, and so does each process that loads an app before
it loads settings.
"""

import sys
from pathlib import Path
from typing import Final

PACKAGE: Final = Path(__file__).resolve().parents[1]
IN_WHEEL: Final = PACKAGE / "_site"
SITE: Final = IN_WHEEL if IN_WHEEL.is_dir() else PACKAGE.parent
MANUAL: Final = SITE / ("manual" if SITE is IN_WHEEL else "docs/site")
"""The built pages of the manual."""

if sys.path[:1] != [str(SITE)]:
    sys.path.insert(0, str(SITE))
