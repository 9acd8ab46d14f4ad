"""The speech path: AudioChunk in, SourceText out."""
