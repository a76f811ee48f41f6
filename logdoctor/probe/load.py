"""The level `load`: the same known questions alone, then four and sixteen at a time; and one long prompt on demand.

Some kernels are right for one request and wrong for several. Alone they answer every test prompt.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor, wait
from dataclasses import dataclass

from logdoctor.probe.answer import Answer, read_answer
from logdoctor.probe.answers import COMPLETIONS, ask, completion_body
from logdoctor.probe.client import Client
from logdoctor.probe.health import STATUS_TIMEOUT, describe, read_metrics
from logdoctor.probe.options import ProbeOptions, Values
from logdoctor.probe.questions import CONTINUATION, CONTINUATION_TOKENS, QUESTIONS, Question, is_garbled

ROUNDS: tuple[tuple[int, int], ...] = ((4, 12), (16, 16))
"""Concurrency and number of requests; with those of the baseline a few dozen in all."""
CONTEXT_PATIENCE = 5
"""By how much a long prompt may take longer than another request."""
_CONTEXT_ANSWER = 16
_CONTEXT_TRIES = 3
_MAX_CONTEXT = 2_000_000
_WORDS = ("one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten")


@dataclass(frozen=True, slots=True)
class Baseline:
    """What a question gets when it is asked alone."""

    question: Question
    answers: tuple[Answer, ...]

    @property
    def text(self) -> str:
        """The answer, folded."""
        return _folded(self.answers[0])

    @property
    def steady(self) -> bool:
        """Whether the same question alone got the same answer every time."""
        return len({_folded(answer) for answer in self.answers}) == 1

    @property
    def right(self) -> bool:
        """Whether it was answered rightly every time."""
        return all(self.question.is_right(answer.content) for answer in self.answers)

    @property
    def sound(self) -> bool:
        """Whether there were answers that are language."""
        return all(answer.found and not answer.empty and not is_garbled(answer.content) for answer in self.answers)


def measure_load(client: Client, model: str, options: ProbeOptions, *, chat: bool) -> Values:
    """Ask alone and at once, and count what got worse."""
    questions = QUESTIONS if chat else (CONTINUATION,)

    def one(question: Question) -> Answer:
        if chat:
            return ask(client, model, question, options.max_tokens)
        return read_answer(client.post(COMPLETIONS, completion_body(model, question.prompt, CONTINUATION_TOKENS)))

    baselines = tuple(Baseline(question, (one(question), one(question))) for question in questions)
    values: Values = {
        "probe.load.steady": all(baseline.steady for baseline in baselines),
        "probe.load.baseline_right": all(baseline.right for baseline in baselines),
    }
    if not any(answer.found for baseline in baselines for answer in baseline.answers):
        return values | {"probe.load.requests": 0, "probe.load.failed": sum(len(b.answers) for b in baselines)}
    count = _Count()
    for concurrency, requests in ROUNDS:
        asked = [baselines[number % len(baselines)] for number in range(requests)]
        start = time.monotonic()
        with ThreadPoolExecutor(concurrency) as pool:
            answers = list(pool.map(lambda baseline: one(baseline.question), asked))
        count.add(concurrency, list(zip(asked, answers, strict=True)))
        tokens = sum(answer.completion_tokens or 0 for answer in answers)
        values["probe.load.tokens_per_second"] = round(tokens / max(time.monotonic() - start, 0.001), 1)
        if count.failed * 2 > requests:
            break
    return values | count.values()


class _Count:
    """Counts the answers under load by what became of them; each counts once, at its worst."""

    def __init__(self) -> None:
        self.requests = self.failed = self._empty = self._garbled = self._wrong = self._differs = 0
        self._at = 0
        """The lowest concurrency at which something got worse."""

    def add(self, concurrency: int, results: Sequence[tuple[Baseline, Answer]]) -> None:
        """Compare the answers of a round with what the same questions got alone."""
        before = self._damaged or self._differs
        for baseline, answer in results:
            self.requests += 1
            if not answer.found:
                self.failed += 1
            elif not baseline.sound:
                # What was no language alone can only be counted as different.
                self._differs += baseline.steady and _folded(answer) != baseline.text
            elif answer.empty:
                self._empty += 1
            elif is_garbled(answer.content):
                self._garbled += 1
            elif baseline.right and not baseline.question.is_right(answer.content):
                self._wrong += 1
            elif baseline.steady and _folded(answer) != baseline.text:
                self._differs += 1
        if not before and (self._damaged or self._differs):
            self._at = concurrency

    @property
    def _damaged(self) -> int:
        return self._empty + self._garbled + self._wrong

    def values(self) -> Values:
        """Return the counts as facts."""
        counts: Values = {
            "probe.load.requests": self.requests,
            "probe.load.failed": self.failed,
            "probe.load.empty": self._empty,
            "probe.load.garbled": self._garbled,
            "probe.load.wrong": self._wrong,
            "probe.load.differs": self._differs,
            "probe.load.damaged": self._damaged,
        }
        return counts | ({"probe.load.at": self._at} if self._at else {})


def _folded(answer: Answer) -> str:
    return " ".join(answer.content.split())


def measure_context(client: Client, model: str, length: int, options: ProbeOptions) -> Values:
    """Send one prompt just under the context length. What does not fit into the KV cache may wait for ever."""
    rate = _tokens_per_word(client, model)
    if rate is None:
        return {}
    base, slope = rate
    room = min(length, _MAX_CONTEXT) - _CONTEXT_ANSWER - 8
    answer, values = Answer(), Values()
    for attempt in range(_CONTEXT_TRIES):
        words = int((room * (1 - 0.02 * attempt) - base) / slope)
        if words < 1:
            return {}
        answer, seen = _send_long(client, model, words, options)
        tokens = answer.prompt_tokens or int(base + slope * words)
        values = {
            "probe.context.tokens": tokens,
            "probe.context.status": answer.status,
            "probe.context.ok": answer.found,
        }
        if answer.status != 400:
            break
    if answer.timed_out:
        values |= {"probe.context.timed_out": True, **seen}
    elif answer.found and answer.first_seconds is not None:
        values["probe.context.ttft_seconds"] = round(answer.first_seconds, 3)
    elif answer.error:
        values["probe.context.error"] = answer.error
    return values


def _prompt(words: int) -> str:
    cycles, rest = divmod(words, len(_WORDS))
    return " ".join((*_WORDS * cycles, *_WORDS[:rest]))


def _tokens_per_word(client: Client, model: str) -> tuple[float, float] | None:
    """Learn from two short prompts how many tokens the server's tokenizer makes of a word."""
    counts = []
    for words in (20, 60):
        answer = read_answer(client.post(COMPLETIONS, completion_body(model, _prompt(words), 1)))
        if answer.prompt_tokens is None:
            return None
        counts.append(answer.prompt_tokens)
    slope = (counts[1] - counts[0]) / 40
    return (counts[0] - 20 * slope, slope) if slope > 0 else None


def _send_long(client: Client, model: str, words: int, options: ProbeOptions) -> tuple[Answer, Values]:
    """Send the prompt and watch the queue meanwhile: when the client gives up, the server forgets the request."""
    patience = options.timeout * CONTEXT_PATIENCE
    body = completion_body(model, _prompt(words), _CONTEXT_ANSWER, stream=True, stream_options={"include_usage": True})
    seen: Values = {}
    with ThreadPoolExecutor(1) as pool:
        request = pool.submit(client.stream, COMPLETIONS, body, patience)
        start = time.monotonic()
        while not wait([request], min(1.0, patience / 20)).done and time.monotonic() - start < patience:
            engines = read_metrics(client, min(STATUS_TIMEOUT, options.timeout))
            if engines and not request.done():
                now = describe(engines)
                seen = {f"probe.context.{name}": now[f"probe.metrics.{name}"] for name in ("running", "waiting")}
        return read_answer(request.result()), seen
