"""Cues out: to viewers over WebSocket and SSE."""
