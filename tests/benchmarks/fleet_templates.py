"""Measure how well failures are grouped: `python -m tests.benchmarks.fleet_templates`, with drain3 where it is there.

Every signature's first example gives a message; of each a few variants are made whose numbers, paths and quoted words
differ. A good grouping puts the variants of one message, and nothing else, into one group. Messages that differ in
nothing but a quoted word count as wrong for everybody.
"""

from __future__ import annotations

import random
import re
import string
import time
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Sequence

from logdoctor.database import load_database
from logdoctor.diagnosis.fingerprints import fold

VARIANTS = 8
_PREFIX = re.compile(r"^\([^)]*pid=\d+[^)]*\)\s*|^[A-Z]{4,8} \d\d-\d\d \d\d:\d\d:\d\d \[[^\]]*\]\s*")
_MASKS = (
    (r"'[^'\n]*'|\"[^\"\n]*\"", "S"),
    (r"(?:[a-z][a-z0-9+.-]*://|/)[^\s,;:)\]}]+", "P"),
    (r"0x[0-9a-fA-F]+", "H"),
    (r"[-+]?\d[\d,._]*", "N"),
)
"""What `fold` folds, in drain3's terms."""


def messages() -> list[str]:
    """One message of every signature that has an example."""
    found = set()
    for signature in load_database(examples=True).signatures:
        for example in signature.examples.match[:1]:
            lines = [line for line in str(getattr(example, "log", example)).splitlines() if line.strip()]
            text = _PREFIX.sub("", _PREFIX.sub("", lines[-1])) if lines else ""
            if len(text) > 15:
                found.add(text[:1000])
    return sorted(found)


class Varying:
    """Makes variants of a message."""

    def __init__(self, seed: int) -> None:
        self._random = random.Random(seed)

    def _word(self) -> str:
        return "".join(self._random.choice(string.ascii_lowercase) for _ in range(self._random.randint(3, 9)))

    def _words(self, joint: str, most: int) -> str:
        return joint.join(self._word() for _ in range(self._random.randint(1, most)))

    def _number(self, found: re.Match[str]) -> str:
        if "." in found[0]:
            return f"{self._random.random() * 100:.2f}"
        return str(self._random.randint(0, 10 ** self._random.randint(1, 7)))

    def __call__(self, text: str) -> str:
        text = re.sub(r"'[^'\n]{1,60}'", lambda _: f"'{self._words(' ', 3)}'", text)
        text = re.sub(r"(?:/[\w.-]+){2,}", lambda _: "/" + self._word() + "/" + self._words("/", 4), text)
        return re.sub(r"(?<![\w.])\d+(?:\.\d+)?(?!\w)", self._number, text)


def score(labels: Sequence[int], groups: Sequence[object]) -> str:
    """Compare a grouping with the truth."""

    def pairs(counts: Iterable[int]) -> int:
        return sum(count * (count - 1) // 2 for count in counts)

    both, truth, found = Counter(zip(labels, groups, strict=True)), Counter(labels), Counter(groups)
    precision = pairs(both.values()) / max(1, pairs(found.values()))
    recall = pairs(both.values()) / max(1, pairs(truth.values()))
    held: defaultdict[object, set[int]] = defaultdict(set)
    for label, group in zip(labels, groups, strict=True):
        held[group].add(label)
    exact = sum(
        len(held[group]) == 1 and both[label, group] == truth[label]
        for label, group in zip(labels, groups, strict=True)
    )
    harmonic = 2 * precision * recall / (precision + recall)
    return f"{len(found)} | {precision:.2f} | {recall:.2f} | {harmonic:.2f} | {exact / len(labels):.0%}"


def drain(threshold: float, masked: bool) -> Callable[[str], object]:
    """A grouping by drain3."""
    from drain3 import TemplateMiner
    from drain3.masking import MaskingInstruction
    from drain3.template_miner_config import TemplateMinerConfig

    config = TemplateMinerConfig()
    config.drain_sim_th = threshold
    config.masking_instructions = [MaskingInstruction(*mask) for mask in _MASKS] if masked else []
    miner = TemplateMiner(config=config)
    return lambda text: miner.add_log_message(text)["cluster_id"]


def main() -> None:
    """Measure and print a table in Markdown."""
    vary = Varying(5)
    items = [(number, vary(text)) for number, text in enumerate(messages()) for _ in range(VARIANTS)]
    random.Random(5).shuffle(items)
    labels = [number for number, _ in items]
    texts = [" ".join(text.split()) for _, text in items]
    ways: dict[str, Callable[[str], object]] = {"fold": fold}
    try:
        ways["drain3 as it comes"] = drain(0.4, masked=False)
        ways |= {f"drain3, the same masks, threshold {sim}": drain(sim, masked=True) for sim in (0.4, 0.6, 0.8)}
    except ImportError:
        print("drain3 is not installed\n")
    print(f"{len(set(labels))} messages, {len(items)} variants\n")
    print("| | groups | precision of pairs | recall | F1 | messages in exactly the right group | µs each |")
    print("| --- | ---: | ---: | ---: | ---: | ---: | ---: |")
    for name, way in ways.items():
        begun = time.perf_counter()
        groups = [way(text) for text in texts]
        each = (time.perf_counter() - begun) / len(texts) * 1e6
        print(f"| {name} | {score(labels, groups)} | {each:.0f} |")


if __name__ == "__main__":
    main()
