"""The service: HTTP, WebSocket, ingest, rooms, delivery, auth, settings and the command line."""
