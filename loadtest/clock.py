"""How the server's clock lies against ours, learnt from pings."""

from collections import deque


class ClockOffset:
    """Server epoch milliseconds minus our own milliseconds, from the quickest of the last eight round trips."""

    def __init__(self) -> None:
        self._trips: deque[tuple[float, float]] = deque(maxlen=8)

    def hello(self, server_time_ms: float, now_ms: float) -> None:
        """A first guess before any ping has come back."""
        if not self._trips:
            self._trips.append((float("inf"), server_time_ms - now_ms))

    def pong(self, client_time_ms: float, server_time_ms: float, now_ms: float) -> None:
        """One round trip: sent at `client_time_ms`, back at `now_ms`, both on our clock."""
        trip = max(0.0, now_ms - client_time_ms)
        self._trips.append((trip, server_time_ms - (client_time_ms + trip / 2)))

    def server_ms(self, now_ms: float) -> float:
        """Our time as the server would tell it; our own where nothing is known."""
        return now_ms + (min(self._trips)[1] if self._trips else 0.0)
