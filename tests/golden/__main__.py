"""Write the golden files again: `python -m tests.golden`."""

import os
import sys


def main() -> None:
    """Write each file, and print the names of the changed ones."""
    os.environ["DJANGO_SETTINGS_MODULE"] = "tests.settings"
    import django

    django.setup()
    from tests.golden.surfaces import FOLDER, SURFACES

    for name, lines in SURFACES.items():
        path, text = FOLDER / name, "".join(f"{line}\n" for line in lines())
        if not path.exists() or path.read_text(encoding="utf-8") != text:
            path.write_text(text, encoding="utf-8")
            sys.stdout.write(f"{path.name} changed\n")


if __name__ == "__main__":
    main()
