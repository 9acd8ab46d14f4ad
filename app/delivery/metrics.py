"""Every Prometheus series of delivery."""

from prometheus_client import Counter, Gauge

VIEWERS = Gauge("sampan_viewers", "Viewers connected now")
DROPPED = Counter("sampan_delivery_dropped_total", "Frames that slow viewers were not sent, by cause", ("cause",))
SLOW_VIEWERS = Counter("sampan_slow_viewers_closed_total", "Viewers closed because they read nothing for too long")
