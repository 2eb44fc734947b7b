"""Entry point inside the walls: `python -I -B __main__.py '{"fd": 3, …}'`.

Everything here happens before the first submitted instruction: the limits are set and the privileges dropped
while the process still holds nothing but our code.
"""

import sys
from pathlib import Path

# Isolated mode leaves our own folder off the path.
sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from grader.runner.confine import Confinement, confine
from grader.runner.serve import serve

if __name__ == "__main__":
    confinement = Confinement.from_json(sys.argv[1])
    confine(confinement)
    del sys.argv[1:]
    serve(confinement.fd, max_payload_bytes=confinement.max_payload_bytes)
