"""What rooms and comments may be called."""

import re

ROOM_NAME = re.compile(r"[A-Za-z0-9_-]{1,64}")

# No full stop: the ids of speech have one, and both share a room's cues.
COMMENT_ID = re.compile(r"[A-Za-z0-9_=%-]{1,128}")
