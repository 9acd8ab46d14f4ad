"""The demo: one room, one host, a lively chat, and what a viewer saw of it."""
