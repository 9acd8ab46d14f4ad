"""Every Prometheus series of rooms."""

from prometheus_client import Gauge

LIVE_ROOMS = Gauge("sampan_live_rooms", "Rooms with a broadcaster now")
LIVE_ROOMS_HELD = Gauge("sampan_live_rooms_held", "Rooms that may have a broadcaster at once; 0: not known yet")
