"""Speech recognition engines and what they share."""
