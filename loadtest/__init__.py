"""Broadcasters, chatters and viewers that speak only the public protocol."""
