"""A redacted launch is still the launch: only secrets change, every other word can be pasted."""

from __future__ import annotations

import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from logdoctor.launch import read_launch
from logdoctor.report.redaction import Redactor
from tests.launch import strategies
from tests.launch.strategies import Content

TOKEN = "hf_" + "aBcDeFgHiJkLmNoPqRsTuVwXyZ012345"


def redacted(text: str) -> str:
    redactor = Redactor()
    redactor.learn(text)
    return redactor.text(text)


@settings(deadline=None)
@given(strategies.written)
def test_other_words_stay(launch: tuple[Content, str]) -> None:
    text = launch[1].replace("hf_x", TOKEN)
    shown = redacted(text)
    assert TOKEN not in shown
    # To a shell the mask is a redirection; whoever pastes the command fills in the secret.
    before, after = read_launch(text), read_launch(re.sub(r"<[a-z-]+\d+>", "MASK", shown))
    assert [word.value for word in after.argv] == [word.value for word in before.argv]
    assert {name: variable.value for name, variable in after.env.items() if name != "HF_TOKEN"} == {
        name: variable.value for name, variable in before.env.items() if name != "HF_TOKEN"
    }


@pytest.mark.parametrize(
    "text",
    [
        "docker run \\\n  -e HF_TOKEN={} \\\n  vllm/vllm-openai:v1 \\\n  acme/model-1 \\\n  --seed 1\n",
        "docker run -e HF_TOKEN={} \\\n  acme/vllm serve acme/model-1\n",
        "export HF_TOKEN={}\nvllm serve acme/model-1\n",
        "vllm serve acme/model-1 --api-key {} \\\n  --seed 1\n",
        "vllm serve --api-key {} \\\n  acme/model-1\n",
        "services:\n  a:\n    environment:\n      HF_TOKEN: {}\n    command:\n      - acme/model-1\n",
        "services:\n  a:\n    environment:\n      - HF_TOKEN={}\n      - A=1\n    command: acme/model-1\n",
        "services:\n  a:\n    command:\n    - --api-key\n    - {}\n    - --model\n    - acme/model-1\n",
        "services:\n  a:\n    command:\n    - --api-key={}\n    - acme/model-1\n",
    ],
)
def test_a_secret_at_the_end_of_a_line_takes_nothing_with_it(text: str) -> None:
    for secret in (TOKEN, "sk-verysecret0123456789abcdef"):
        shown = redacted(text.format(secret))
        assert secret not in shown
        mask = next(word for word in shown.split() if "<" in word)
        assert shown.replace(mask[mask.index("<") : mask.index(">") + 1], "{}") == text


def test_a_reference_is_no_secret_and_neither_is_what_follows() -> None:
    text = (
        'docker run -e HF_TOKEN=$HF_TOKEN \\\n  -e "API_KEY=${API_KEY}" \\\n  vllm/vllm-openai:v1 \\\n  acme/model-1\n'
    )
    assert redacted(text) == text


@settings(deadline=None)
@given(st.sampled_from(["\\\n", "\n  "]))
def test_a_secret_that_a_line_end_cuts_is_still_one(cut: str) -> None:
    shown = redacted(f"HF_TOKEN={TOKEN[:20]}{cut}{TOKEN[20:]}\n")
    assert TOKEN[20:] not in shown
