"""When the host speaks and when each comment is due."""

from collections.abc import Iterator, Sequence

import msgspec

from loadtest.chatter import Line

PRE_SHOW_S = 20.0  # comments alone, before the host speaks


class Plan(msgspec.Struct, frozen=True, kw_only=True):
    """`speech_at`: seconds from the start to the host's first sample. `round_s`: after so long it begins again."""

    lines: tuple[Line, ...]
    speech_at: float
    round_s: float | None

    def comments(self) -> Iterator[Line]:
        """The comments by time; with `round_s`, those of the show come again in every round, for ever."""
        yield from self.lines
        if self.round_s is None:
            return
        show = [line for line in self.lines if line.t >= self.speech_at]
        shift = 0.0
        while show:
            shift += self.round_s
            for line in show:
                yield msgspec.structs.replace(line, t=line.t + shift)


def sample_plan(lines: Sequence[Line], seconds: float, *, once: bool) -> Plan:
    """The sample: 20 s of comments alone, then the host, `seconds` long, again and again unless `once`."""
    end = PRE_SHOW_S + seconds
    return Plan(
        lines=tuple(line for line in lines if line.t < end), speech_at=PRE_SHOW_S, round_s=None if once else seconds
    )


def input_plan(lines: Sequence[Line], *, once: bool) -> Plan:
    """Somebody's own input: it starts at once, with the show's comments beside it."""
    show = tuple(msgspec.structs.replace(line, t=line.t - PRE_SHOW_S) for line in lines if line.t >= PRE_SHOW_S)
    return Plan(lines=show, speech_at=0.0, round_s=None if once or not show else show[-1].t + 2.0)
