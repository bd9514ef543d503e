"""Whether the web server of a container answers: `python -m deltaweb.serving.health`.

It is asked as the proxy asks it, since it answers to its public name alone.
"""

import http.client
import os
import sys
from typing import Final
from urllib.parse import urlsplit

ANSWERS_WITHIN_S: Final = 4.0
FAULT: Final = 500


def answers(port: int, public_url: str) -> bool:
    """Whether a page comes from 127.0.0.1, whatever it says.

    Args:
        public_url: The address that people open; "" for none.
    """
    public = urlsplit(public_url)
    headers = {
        "Host": public.netloc or f"127.0.0.1:{port}",
        "X-Forwarded-Proto": public.scheme or "http",
    }
    server = http.client.HTTPConnection("127.0.0.1", port, timeout=ANSWERS_WITHIN_S)
    try:
        server.request("GET", "/sign-in/", headers=headers)
        return server.getresponse().status < FAULT
    except (OSError, http.client.HTTPException):
        return False
    finally:
        server.close()


if __name__ == "__main__":
    port = int(os.environ.get("PORT") or 8000)
    sys.exit(not answers(port, os.environ.get("DELTAWEB_PUBLIC_URL", "")))
