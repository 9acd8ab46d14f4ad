"""Models: text and samples in and out. Nothing here knows a room, a viewer or a socket."""
