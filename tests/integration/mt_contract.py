"""What every translation engine does, whatever it runs on."""

import asyncio

import pytest

from engines.engine import Engine, RowFailure
from engines.errors import Unavailable
from engines.languages import LanguageTag
from engines.mt.types import Translation, TranslationRequest

TEXTS = ("How much is this kettle?", "Thank you", "Is there a red one? I would like two.", "Good evening everyone")


def request(text: str, source: str = "en", target: str = "vi") -> TranslationRequest:
    return TranslationRequest(text=text, source=LanguageTag(source), target=LanguageTag(target))


async def holds_contract(engine: Engine[TranslationRequest, Translation], *, fits: tuple[str, str]) -> None:
    """Run the cases on an engine that translates the pair `fits`; it is closed afterwards."""
    rows = [request(text, *fits) for text in TEXTS]
    await engine.warm()
    alone = [(await engine.run([row]))[0] for row in rows]
    assert list(await engine.run(rows)) == alone, "rows keep their order and don't change each other"
    async with asyncio.TaskGroup() as tasks:
        asked = [tasks.create_task(engine.run([row])) for row in rows]
    assert [task.result()[0] for task in asked] == alone, "calls at once don't change each other"

    (ready,) = await engine.run([request("", *fits)])
    assert isinstance(ready, Translation)
    assert (ready.text, ready.tokens) == ("", 0)
    mixed = await engine.run([rows[0], request("", *fits), request("hi", "km", "lo"), rows[1]])
    assert (mixed[0], mixed[3]) == (alone[0], alone[1])
    assert mixed[2] == RowFailure("unsupported_pair")
    (long,) = await engine.run([request(" ".join(TEXTS * 20), *fits)])
    assert isinstance(long, Translation | RowFailure)

    given_up = asyncio.ensure_future(engine.run(rows))
    await asyncio.sleep(0)
    given_up.cancel()
    with pytest.raises(asyncio.CancelledError):
        await given_up
    assert (await engine.run([rows[2]]))[0] == alone[2], "a call that is given up leaves the engine well"

    await engine.close()
    await engine.close()
    with pytest.raises(Unavailable):
        await engine.run([rows[0]])
