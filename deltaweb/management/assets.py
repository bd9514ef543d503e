"""Copies the front-end libraries from node_modules to static/vendor.

    python -m deltaweb.management.assets

package.json names them by version and package-lock.json by checksum; npm fetches
them, this module copies the few files that pages need, with their licences. The
icons become one small sprite. Plotly's style rules become a stylesheet, because a
strict Content-Security-Policy keeps plotly from injecting them itself. Of Tabler's
stylesheet the rules stay that a template, a script or a view names: a browser reads
all of it for every page, and 95 % are for parts that no page has.
"""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
MODULES = ROOT / "node_modules"
STATIC = ROOT / "static"
VENDOR = STATIC / "vendor"
FILES = {
    "@tabler/core/dist/css/tabler.min.css": "tabler/tabler.min.css",
    "@tabler/core/README.md": "tabler/README.md",
    "@tabler/icons/LICENSE": "icons-LICENSE",
    "@fontsource-variable/inter/files/inter-latin-wght-normal.woff2": (
        "inter/inter-latin.woff2"
    ),
    "@fontsource-variable/inter/files/inter-latin-ext-wght-normal.woff2": (
        "inter/inter-latin-ext.woff2"
    ),
    "@fontsource-variable/inter/LICENSE": "inter/LICENSE",
    "plotly.js-cartesian-dist-min/plotly-cartesian.min.js": (
        "plotly/plotly-cartesian.min.js"
    ),
    "plotly.js-cartesian-dist-min/LICENSE": "plotly/LICENSE",
}
SOURCE_MAP = re.compile(r"\n?/[*/]# sourceMappingURL=[^\n]*")
SHAPES = re.compile(r"<svg.*?>(.*)</svg>", re.DOTALL)
FRAME = re.compile(r'\s*<path stroke="none" d="M0 0h24v24H0z" fill="none" />')
PLOTLY_RULES = re.compile(r'\{"X,X div":.*?\}', re.DOTALL)
PLOTLY_RULE = re.compile(r""""([^"]+)":(?:"([^"]*)"|'([^']*)')""")
MINIMUM_PLOTLY_RULES = 50
STYLED = ("templates/**/*.html", "static/js/*.js", "apps/**/*.py")


class AssetError(Exception):
    """A front-end library is not as this module expects it."""


def copy_files() -> None:
    """Copy the libraries; their source maps, which are not copied, go unnamed."""
    for source, target in FILES.items():
        path = VENDOR / target
        path.parent.mkdir(parents=True, exist_ok=True)
        if path.suffix in {".css", ".js"}:
            text = (MODULES / source).read_text(encoding="utf-8")
            path.write_text(SOURCE_MAP.sub("", text), encoding="utf-8")
        else:
            shutil.copyfile(MODULES / source, path)


def drop_unused_rules(stylesheet: Path) -> None:
    """Keep the rules of a stylesheet whose names stand in what pages are made of."""
    # Set-up brings Node.js beside Python; elsewhere it is in the PATH.
    path = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])
    node = shutil.which("node", path=path)
    if node is None:
        message = "Node.js is missing. Run 'make setup', which installs it."
        raise AssetError(message)
    tool = MODULES / "purgecss" / "bin" / "purgecss.js"
    command = [node, str(tool), "--css", str(stylesheet), "--content", *STYLED]
    done = subprocess.run(  # noqa: S603 (words of ours)
        [*command, "--output", str(stylesheet)],
        cwd=ROOT,
        capture_output=True,
        check=False,
    )
    if done.returncode:
        message = f"{tool} failed: {done.stderr.decode(errors='replace')[-500:]}"
        raise AssetError(message)


def icon_sprite(names: list[str]) -> str:
    """Return one SVG with a symbol for each icon."""
    symbols = []
    for name in names:
        path = MODULES / "@tabler" / "icons" / "icons" / "outline" / f"{name}.svg"
        shapes = (
            SHAPES.search(path.read_text(encoding="utf-8")) if path.exists() else None
        )
        if shapes is None:
            message = f"static/icons.txt names {name!r}, which @tabler/icons has not."
            raise AssetError(message)
        inner = FRAME.sub("", shapes[1]).strip()
        symbols.append(f'<symbol id="i-{name}" viewBox="0 0 24 24">{inner}</symbol>')
    return (
        '<svg xmlns="http://www.w3.org/2000/svg">\n' + "\n".join(symbols) + "\n</svg>\n"
    )


def plotly_stylesheet(bundle: str) -> str:
    """Return the rules that plotly would inject, as a stylesheet."""
    block = PLOTLY_RULES.search(bundle)
    rules = PLOTLY_RULE.findall(block[0]) if block else []
    if len(rules) < MINIMUM_PLOTLY_RULES:
        message = f"plotly's bundle holds {len(rules)} style rules where 66 were known."
        raise AssetError(message)
    lines = []
    for selector, double, single in rules:
        full = selector.replace("X", ".js-plotly-plot .plotly")
        full = full.replace("Y", ".plotly-notifier")
        lines.append(f"{full}{{{double or single}}}")
    return "\n".join(lines) + "\n"


def make() -> None:
    """Make static/vendor again."""
    shutil.rmtree(VENDOR, ignore_errors=True)
    copy_files()
    drop_unused_rules(VENDOR / "tabler" / "tabler.min.css")
    names = (STATIC / "icons.txt").read_text(encoding="utf-8").split()
    sprite = icon_sprite(sorted(set(names)))
    (VENDOR / "icons.svg").write_text(sprite, encoding="utf-8")
    plotly = VENDOR / "plotly"
    bundle = (plotly / "plotly-cartesian.min.js").read_text(encoding="utf-8")
    css = plotly_stylesheet(bundle)
    (plotly / "plotly-global.css").write_text(css, encoding="utf-8")


def main() -> int:
    """Make static/vendor, or say what is missing."""
    if not MODULES.is_dir():
        sys.stderr.write(f"{MODULES} is missing. Run 'make setup', which fetches it.\n")
        return 1
    make()
    return 0


if __name__ == "__main__":
    sys.exit(main())
