"""Voice activity detection."""
