"""Several translations in one llama.cpp context: prompt prefixes computed once, rows admitted as slots free up.

Sync, and for one thread only; engines/mt/llama_cpp.py drives it.
"""

from collections import OrderedDict
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from engines.cores import Cores
from engines.mt.llama_model import LlamaModel
from engines.mt.llama_prompts import PromptStore
from engines.mt.prompts import Kind, Prompt, Prompts
from engines.mt.script_masks import ScriptMasks
from engines.mt.types import TranslationRequest

PREFIXES = 12  # pairs whose prompt is kept in memory at least; the one used longest ago gives way
CONTEXT_TOKENS = 16_384
LONGEST_TEXT = 3_072  # tokens; 2,000 characters of any language of the service stay below
LONGEST_ANSWER = 1_536  # tokens
PROSE_TOKENS = 20  # a text of so many is a sentence
DRAFT_TOKENS = 40  # of drafts in one step: llama.cpp holds a row of logits for each, and never gives the memory back
KEPT_TOKENS = 128  # of the text that a slot translated last, for one that begins the same
_MOST_KEPT = CONTEXT_TOKENS // 8  # by all slots
READ_TOKENS = 48  # of prompts and texts in one step, so that reading a long one does not hold up the others

# How many tokens a translation may have for each token of its source, with Qwen's vocabulary.
_GROWTH = {"my": 10, "km": 10, "lo": 10, "th": 5, "ko": 4, "ja": 4}
_USUAL_GROWTH = 3
_SPARE_TOKENS = 16


def sequences(slots: int) -> int:
    """How many sequences a context needs: one a slot, and prompts enough that no slot waits for one to get free."""
    return slots + max(PREFIXES, slots + 1)


class TooLong(ValueError):
    """A text that does not fit."""


@dataclass(slots=True, eq=False)
class _Prefix:
    """A pair's prompt in a sequence of its own; `todo` is what has still to be read of it."""

    sequence: int
    tokens: list[int]
    todo: list[int]
    length: int = 0


@dataclass(frozen=True, slots=True)
class _Kept:
    """What a free slot still holds behind its pair's prompt: the beginning of the text that it translated last."""

    prompt: Prompt
    text: list[int]


@dataclass(slots=True, eq=False)
class Job:
    """One text on its way through the model. `todo` is what has still to be read, `written` the answer so far.

    `draft` is read with the text's last tokens; as much of it is kept as the model would have written itself
    (Leviathan et al., 2023, https://arxiv.org/abs/2211.17192, with a draft that costs nothing). `position` is None
    until the job has begun with its pair's prefix. A job without text only makes the pair ready.
    """

    prompt: Prompt
    text: list[int]
    todo: list[int]
    most: int
    banned: NDArray[np.bool_]
    cells: int  # of the context, that the job may come to need
    draft: list[int] = field(default_factory=list)  # an answer to an earlier part of the text
    written: list[int] = field(default_factory=list)
    position: int | None = None
    base: int = 0  # the position of the text's first token
    row: int = -1
    ended: bool = False
    cut: bool = False  # ended because it was too long, not because the model was done
    cancelled: bool = False


class Slots:
    """The rows that are decoded together."""

    def __init__(self, model: LlamaModel, prompts: Prompts, store: PromptStore, cores: Cores, slots: int) -> None:
        self._model = model
        self._store = store
        self._cores = cores
        self._prompts = prompts
        tokens = range(model.size)
        self._masks = ScriptMasks([model.piece(token) for token in tokens], filter(model.ends, tokens))
        self._free = list(range(slots))  # the one free for longest first
        self._kept: dict[int, _Kept] = {}
        self._keeps = min(KEPT_TOKENS, _MOST_KEPT // slots)
        self._jobs: dict[int, Job] = {}
        self._prefixes: OrderedDict[Prompt, _Prefix] = OrderedDict()
        self._free_prefixes = list(range(slots, sequences(slots)))
        self._after_text = model.tokens(prompts.after_text(), special=True)
        self._masked = np.empty(model.size, np.float32)
        self._reserved = 0
        self._draft_budget = DRAFT_TOKENS  # left in this step

    @property
    def busy(self) -> bool:
        """Whether anything is being decoded."""
        return bool(self._jobs)

    def job(self, request: TranslationRequest, kind: Kind | None = None, *, latin: bool = True) -> Job:
        """A job for a text. Raises TooLong. Special tokens in the text are read as text.

        `kind`: of prompt, by default as long as the text is; `latin` False: the answer has to do without Latin letters.
        """
        text = self._model.tokens(request.text, special=False)
        if len(text) > LONGEST_TEXT:
            raise TooLong(f"{len(text)} tokens")
        growth = _GROWTH.get(request.target, _USUAL_GROWTH)
        todo = text + self._after_text if text else []
        most = min(len(text) * growth + _SPARE_TOKENS, LONGEST_ANSWER)
        banned = self._masks.banned(request.target) if latin else self._masks.banned_with_latin(request.target)
        prompt = Prompt(request.source, request.target, kind or ("prose" if len(text) >= PROSE_TOKENS else "chat"))
        drafted = self._model.tokens(request.draft, special=False) if todo and kind is None else []
        cells = len(todo) + max(most, DRAFT_TOKENS)
        draft = drafted[:DRAFT_TOKENS]
        return Job(prompt=prompt, text=text, todo=todo, most=most, banned=banned, cells=cells, draft=draft)

    def can_admit(self, job: Job) -> bool:
        """Whether there is a slot and room in the context for the job now."""
        return bool(self._free) and self._reserved + job.cells <= CONTEXT_TOKENS // 2 - _MOST_KEPT

    def admit(self, job: Job) -> None:
        """Give the job a slot: one that holds the beginning of its text, where there is any.

        Its pair's prompt is read first where that has not been done.
        """
        self._open_prefix(job.prompt)
        slot = max(self._free, key=lambda slot: self._known(slot, job))
        self._free.remove(slot)
        self._jobs[slot] = job
        self._reserved += job.cells

    def step(self) -> list[Job]:
        """Decode once; the jobs that ended with it."""
        budget, prompts = READ_TOKENS, self._prompt_tokens()
        self._draft_budget = DRAFT_TOKENS
        for slot, job in sorted(self._jobs.items(), key=lambda entry: len(entry[1].todo)):
            is_long = len(job.todo) > READ_TOKENS  # it holds nobody up: short texts and their prompts come first
            budget -= self._feed(slot, job, budget - prompts if is_long else budget)
        read = self._read_prefixes(budget)
        self._model.decode(self._cores.free())
        for prefix in read:
            self._store.keep(self._model, prefix.sequence, prefix.tokens)
        for slot, job in self._jobs.items():
            if job.row >= 0:
                self._write(slot, job)
        return self._take_ended()

    def take_memory(self) -> None:
        """Decode as many rows with logits as a step may have, so that the context's memory grows no more after it."""
        sequence = self._free[-1]
        for place in range(DRAFT_TOKENS + len(self._free)):
            self._model.add(self._after_text[0], place, sequence, logits=True)
        self._model.decode(self._cores.free())
        self._model.forget(sequence)

    def drop_all(self) -> None:
        """Give up every job and every prompt, after a fault: nobody knows how much of them was read."""
        for job in self._jobs.values():
            job.ended = True
        self._take_ended()
        for slot in list(self._kept):
            self._empty(slot)
        for prefix in self._prefixes.values():
            self._model.forget(prefix.sequence)
            self._free_prefixes.append(prefix.sequence)
        self._prefixes.clear()
        self._model.discard()

    def text(self, job: Job) -> str:
        """What a job has written."""
        return b"".join(self._model.piece(token) for token in job.written).decode("utf-8", "replace").strip()

    def _prompt_tokens(self) -> int:
        """How much has still to be read of the prompts that texts wait for."""
        prompts = {job.prompt for job in self._jobs.values() if job.position is None and job.todo}
        return sum(len(self._prefixes[prompt].todo) for prompt in prompts)

    def _read_prefixes(self, budget: int) -> list[_Prefix]:
        """Read on in the prompts that jobs wait for, as far as the budget goes; those that are whole with that.

        Pairs that are only made ready have to wait until there is no text: each token read holds up those written.
        """
        whole: list[_Prefix] = []
        texts = any(job.text for job in self._jobs.values())
        waiting = [job for job in self._jobs.values() if job.position is None and bool(job.text) == texts]
        for prompt in dict.fromkeys(job.prompt for job in waiting):
            prefix = self._prefixes[prompt]
            part, prefix.todo = prefix.todo[:budget], prefix.todo[budget:]
            for token in part:
                self._model.add(token, prefix.length, prefix.sequence, logits=False)
                prefix.length += 1
            budget -= len(part)
            if part and not prefix.todo:
                whole.append(prefix)
        return whole

    def _feed(self, slot: int, job: Job, budget: int) -> int:
        """Add a job's next tokens to the decode: some of its text, or the token that it wrote last."""
        job.row = -1
        if job.position is None and not self._begin(slot, job):
            return 0
        assert job.position is not None
        if not job.todo:
            job.row = self._model.add(job.written[-1], job.position, slot, logits=True)
            job.position += 1
            return 0
        part, job.todo = job.todo[: max(budget, 0)], job.todo[max(budget, 0) :]
        for place, token in enumerate(part):
            last = not job.todo and place == len(part) - 1
            row = self._model.add(token, job.position, slot, logits=last)
            job.position += 1
            if last:
                job.row = row
        if job.todo:
            return len(part)
        job.draft = job.draft[: self._draft_budget]
        self._draft_budget -= len(job.draft)
        for place, token in enumerate(job.draft):
            self._model.add(token, job.position + place, slot, logits=True)
        return len(part) + len(job.draft)

    def _begin(self, slot: int, job: Job) -> bool:
        """Let the job begin with its pair's prefix, once a decode has read all of it."""
        prefix = self._prefixes[job.prompt]
        if prefix.todo:
            return False
        known = self._known(slot, job)
        if known:
            self._model.forget(slot, prefix.length + known)
            del self._kept[slot]
        else:
            self._empty(slot)
            self._model.share(prefix.sequence, slot)
        job.base, job.position, job.todo = prefix.length, prefix.length + known, job.todo[known:]
        job.ended = not job.todo
        return bool(job.todo)

    def _write(self, slot: int, job: Job) -> None:
        """What the model writes next: one token, behind those of the draft that it would have written, too."""
        drafted, job.draft = job.draft, []
        for place, expected in enumerate((*drafted, None)):
            token = self._likeliest(job, job.row + place)
            job.cut = len(job.written) >= job.most
            job.ended = job.cut or self._model.ends(token)
            if not job.ended:
                job.written.append(token)
            if job.ended or token != expected:
                break
        if drafted:
            assert job.position is not None
            job.position += place
            self._model.forget(slot, job.position)

    def _likeliest(self, job: Job, row: int) -> int:
        """The likeliest token that the target's scripts allow (greedy)."""
        logits = self._model.logits(row)
        token = int(logits.argmax())
        if job.banned[token]:
            np.copyto(self._masked, logits)
            self._masked[job.banned] = -np.inf
            token = int(self._masked.argmax())
        return token

    def _take_ended(self) -> list[Job]:
        ended = {slot: job for slot, job in self._jobs.items() if job.ended or job.cancelled}
        for slot, job in ended.items():
            del self._jobs[slot]
            self._keep(slot, job)
            self._free.append(slot)
        self._reserved = sum(job.cells for job in self._jobs.values())
        return list(ended.values())

    def _known(self, slot: int, job: Job) -> int:
        """How many tokens of the job's text the slot has read already."""
        kept = self._kept.get(slot)
        if kept is None or kept.prompt != job.prompt:
            return 0
        same = 0
        for token, other in zip(kept.text, job.text, strict=False):
            if token != other:
                break
            same += 1
        return same

    def _keep(self, slot: int, job: Job) -> None:
        """Keep the beginning of a text that was read: what is said is translated again when there is more of it."""
        read = len(job.text) - max(0, len(job.todo) - len(self._after_text))
        count = min(read, self._keeps)
        if job.position is None or job.prompt not in self._prefixes or count <= 0:
            self._empty(slot)
            return
        self._model.forget(slot, job.base + count)
        self._kept[slot] = _Kept(job.prompt, job.text[:count])

    def _empty(self, slot: int) -> None:
        self._kept.pop(slot, None)
        self._model.forget(slot)

    def _open_prefix(self, prompt: Prompt) -> None:
        """Have a sequence for a prompt; one that no job waits for gives way where there is none free."""
        if prompt in self._prefixes:
            self._prefixes.move_to_end(prompt)
            return
        if not self._free_prefixes:
            needed = {job.prompt for job in self._jobs.values() if job.position is None}
            oldest = next(prompt for prompt in self._prefixes if prompt not in needed)
            self._free_prefixes.append(self._prefixes.pop(oldest).sequence)
            for slot in [slot for slot, kept in self._kept.items() if kept.prompt == oldest]:
                self._empty(slot)  # it holds the prompt's cells, too
        sequence = self._free_prefixes.pop()
        self._model.forget(sequence)
        text = self._prompts.prefix(prompt) + self._prompts.before_text()
        tokens = self._model.tokens(text, special=True)
        prefix = self._prefixes[prompt] = _Prefix(sequence, tokens, tokens)
        if self._store.restore(self._model, sequence, tokens):
            prefix.todo, prefix.length = [], len(tokens)
