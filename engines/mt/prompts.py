"""Few-shot prompts by pair for chat models in ChatML form; the examples are in prompts.toml."""

import tomllib
from importlib.resources import files

from engines.languages import LANGUAGES, LanguageTag

SYSTEM = (
    "You translate live-stream subtitles and chat from {source} to {target}. "
    "Keep names, numbers and emoji. Output only the {target} translation."
)


class Prompts:
    """The fixed part of a pair's prompt and the part that changes with every text."""

    def __init__(self, shots: int) -> None:
        """`shots`: how many example lines a prompt shows."""
        lines = tomllib.loads(files("engines.mt").joinpath("prompts.toml").read_text(encoding="utf-8"))["lines"]
        self._lines: list[dict[str, str]] = lines[:shots]

    def prefix(self, source: LanguageTag, target: LanguageTag) -> str:
        """What every request of a pair begins with: to be computed once and shared."""
        system = SYSTEM.format(source=LANGUAGES[source].english, target=LANGUAGES[target].english)
        turns = "".join(
            f"{self.before_text()}{line[source]}{self.after_text()}{line[target]}<|im_end|>\n" for line in self._lines
        )
        return f"<|im_start|>system\n{system}<|im_end|>\n{turns}"

    @staticmethod
    def before_text() -> str:
        """The turn's head; the text after it is tokenised without special tokens, so that it stays text."""
        return "<|im_start|>user\n"

    @staticmethod
    def after_text() -> str:
        """The turn's end and the answer's head."""
        return "<|im_end|>\n<|im_start|>assistant\n"
