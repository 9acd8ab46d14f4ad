"""Models: text and samples in and out. Nothing here knows a room, a viewer or a socket."""

import os

# A translation's threads wait for each other many times a millisecond. Left to itself libgomp lets them spin for so
# long that, with one core busy elsewhere, a translation takes 10 times its time; told not to spin at all, it takes 1.5
# times as long on a quiet machine. The library reads this when it is loaded, so it has to stand before any runtime.
os.environ.setdefault("GOMP_SPINCOUNT", "1000")
