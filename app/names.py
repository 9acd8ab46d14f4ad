"""What rooms may be called."""

import re

ROOM_NAME = re.compile(r"[A-Za-z0-9_-]{1,64}")
