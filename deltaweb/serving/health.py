"""Whether the web server of a container answers: `python -m deltaweb.serving.health`.

It asks `/livez`, or the probe that is named: `... deltaweb.serving.health /readyz`. A
process that lives but waits for its database is not started again for that.
"""

import http.client
import os
import sys
from typing import Final

ANSWERS_WITHIN_S: Final = 4.0
LIVE: Final = "/livez"
WELL: Final = 200


def answers(port: int, probe: str = LIVE) -> bool:
    """Whether a probe of 127.0.0.1 says that all is well.

    Args:
        probe: The address of the probe. Probes answer to any host name.
    """
    server = http.client.HTTPConnection("127.0.0.1", port, timeout=ANSWERS_WITHIN_S)
    try:
        server.request("GET", probe)
        return server.getresponse().status == WELL
    except (OSError, http.client.HTTPException):
        return False
    finally:
        server.close()


if __name__ == "__main__":
    port = int(os.environ.get("PORT") or 8000)
    sys.exit(not answers(port, *sys.argv[1:2]))
