"""What batching gives translation and what the service takes for it: ratios of one run, so that machines compare.

python -m tests.benchmarks.mt_batching [ctranslate2] [llama]
"""

import asyncio
import random
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from statistics import median, quantiles

import msgspec

from engines.batching.batcher import Batcher
from engines.batching.policy import BatchingSettings
from engines.batching.ticket import Done, Ticket, Tier
from engines.cores import Cores
from engines.engine import Capacity, Engine
from engines.languages import LanguageTag
from engines.mt import ctranslate2_engine
from engines.mt.ctranslate2_engine import CTranslate2Engine, CTranslate2Settings
from engines.mt.llama_cpp import LlamaCppEngine, LlamaSettings
from engines.mt.types import Translation, TranslationRequest
from engines.store.library import Library
from tests.support.tiny_mt import TEXTS, make_model

ZH, EN, VI = (LanguageTag(tag) for tag in ("zh-Hans", "en", "vi"))
CHAT = (
    "这个多少钱",
    "有没有红色的",
    "主播唱首歌吧",
    "今天有优惠吗",
    "什么时候发货",
    "质量怎么样",
    "可以便宜点吗",
    "求链接在哪里",
    "这个锅能用电磁炉吗",
    "我上次买的很好用",
    "太好看了吧",
    "帮我看看这个尺码",
    "明天还播吗",
    "运费多少啊",
    "可以退货吗",
    "有小号的吗",
)
RUNS = 3
Mt = Engine[TranslationRequest, Translation]


def ticket(longest_s: float = 600.0) -> Ticket:
    deadline = asyncio.get_running_loop().time() + longest_s
    return Ticket(flow="bench", tier=Tier.STANDARD, deadline=deadline)


def settings() -> BatchingSettings:
    return BatchingSettings(max_queue_size=65_536, max_queue_per_flow=65_536)


class OneByOne:
    """An engine without its batches."""

    def __init__(self, engine: CTranslate2Engine) -> None:
        self.name, self.version, self.run = engine.name, engine.version, engine.run
        self.group, self.warm, self.close = engine.group, engine.warm, engine.close
        self.capacity = Capacity(max_batch=1, concurrency=1)


async def offered(engine: Mt, rows: Sequence[TranslationRequest], rate: float) -> tuple[float, float]:
    """Rows as they come at random, `rate` a second: rows/s that were done, and the 95th percentile of the wait."""
    took: list[float] = []
    loop = asyncio.get_running_loop()

    async def ask(batcher: Batcher[TranslationRequest, Translation], row: TranslationRequest) -> None:
        began = loop.time()
        await batcher.submit(row, ticket())
        took.append(loop.time() - began)

    dice = random.Random(3)
    async with Batcher(engine, settings()) as batcher, asyncio.TaskGroup() as tasks:
        began = due = loop.time()
        for row in rows:
            due += dice.expovariate(rate)
            await asyncio.sleep(due - loop.time())
            tasks.create_task(ask(batcher, row))
    return len(rows) / (loop.time() - began), quantiles(took, n=20)[-1]


async def closed(engine: Mt, rows: Sequence[TranslationRequest], at_once: int) -> tuple[float, float, float, float]:
    """So many always in flight: rows/s, tokens/s, median and 95th percentile of the wait."""
    took: list[float] = []
    tokens = 0
    waiting = list(rows)
    loop = asyncio.get_running_loop()

    async def work(batcher: Batcher[TranslationRequest, Translation]) -> None:
        nonlocal tokens
        while waiting:
            began = loop.time()
            outcome = await batcher.submit(waiting.pop(), ticket())
            took.append(loop.time() - began)
            tokens += outcome.result.tokens if isinstance(outcome, Done) else 0

    began = loop.time()
    async with Batcher(engine, settings()) as batcher, asyncio.TaskGroup() as tasks:
        for _ in range(at_once):
            tasks.create_task(work(batcher))
    seconds = loop.time() - began
    return len(rows) / seconds, tokens / seconds, median(took), quantiles(took, n=20)[-1]


async def ctranslate2() -> None:
    """A random model of OPUS-MT's size: the batcher's tax at 32 rows a call, and batching on against off."""
    with tempfile.TemporaryDirectory() as folder:
        path = make_model(Path(folder), layers=6, width=512, heads=8)
        engine = CTranslate2Engine(
            path, "random", [(EN, VI)], CTranslate2Settings(compute_type="int8"), check=lambda _text, _row: None
        )
        await engine.warm()
        rows = [
            TranslationRequest(text=f"{TEXTS[n % 6]} {TEXTS[(n + 1) % 6]}"[:48], source=EN, target=VI)
            for n in range(512)
        ]
        bare = _timed(lambda: _bare(engine, rows))
        through = [(await closed(engine, rows, 96))[0] for _ in range(RUNS)]
        rate = median(len(rows) / seconds for seconds in bare)
        print(f"32 rows a call: bare {rate:.0f} rows/s, through the batcher {median(through):.0f} rows/s, ", end="")
        print(f"ratio {median(through) / rate:.2f} (runs: {', '.join(f'{one / rate:.2f}' for one in through)})")
        load = 0.7 * median(through)
        for name, one in (("on", engine), ("off", OneByOne(engine))):
            done, p95_s = await offered(one, rows, load)  # type: ignore[arg-type]
            print(f"offered {load:.0f} rows/s, batching {name}: {done:.0f} rows/s, p95 {1000 * p95_s:.0f} ms")
        await engine.close()


def _bare(engine: CTranslate2Engine, rows: Sequence[TranslationRequest]) -> None:
    model = engine._model
    assert model is not None
    for at in range(0, len(rows), ctranslate2_engine.MAX_BATCH):
        model.translate(rows[at : at + ctranslate2_engine.MAX_BATCH])


def _timed(work: Callable[[], None]) -> list[float]:
    seconds = []
    for _ in range(RUNS):
        began = time.monotonic()
        work()
        seconds.append(time.monotonic() - began)
    return seconds


async def llama() -> None:
    """The default model: one at a time, 8 and 16 in flight, and comments that come at random."""
    library = Library()
    path = library.path(library.catalogue.defaults.mt)
    engine = LlamaCppEngine(path, "default", LlamaSettings(slots=16), Cores(2))
    await engine.warm()
    await engine.run([TranslationRequest(text="", source=ZH, target=EN)])
    rows = [TranslationRequest(text=f"{CHAT[n % 16]}{n}", source=ZH, target=EN) for n in range(96)]
    alone = 0.0
    for at_once in (1, 8, 16):
        rate, tokens, usual_s, p95_s = await closed(engine, rows[: 16 if at_once == 1 else 96], at_once)
        alone = alone or rate
        print(
            f"{at_once} in flight: {rate:.2f} comments/s ({rate / alone:.2f}x), {tokens:.0f} tokens/s, "
            f"p50 {1000 * usual_s:.0f} ms, p95 {1000 * p95_s:.0f} ms"
        )
    fresh = [msgspec.structs.replace(row, text=f"{row.text}号") for row in rows[:60]]
    for rate in (0.5 * alone, 1.0 * alone, 3.0):
        done, p95_s = await offered(engine, fresh, rate)
        print(f"{rate:.2f} comments/s at random: {done:.2f} done, p95 {1000 * p95_s:.0f} ms")
    await engine.close()


if __name__ == "__main__":
    wanted = sys.argv[1:] or ["ctranslate2", "llama"]
    for measure in (ctranslate2, llama):
        if measure.__name__ in wanted:
            print(f"{measure.__name__}: {(measure.__doc__ or '').splitlines()[0]}")
            asyncio.run(measure())
