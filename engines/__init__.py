"""Models: text and samples in and out. Nothing here knows a room, a viewer or a socket."""

import os

# Two models share the cores. OpenMP's threads spin while they wait for each other unless told not to, and a spinning
# thread keeps the other model's from running: with one core busy elsewhere, a translation took 7 times as long.
# The runtimes read this when they are loaded, so it has to stand before any of them.
os.environ.setdefault("OMP_WAIT_POLICY", "passive")
