"""A launch to paste asks the shell for its secrets, and shows none."""

from __future__ import annotations

import shlex

import pytest

from logdoctor.model import Diagnosis, Launch, Verdict
from logdoctor.report.redaction import redact

HF = "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"
KEY = "sk-proj-Qk3tRwPxLsVbNm7cHdGjKe9aTfZrXwQpLsVb4mYc"


def shown(text: str) -> str:
    """A launch text after redaction, the same in all three places."""
    diagnosis = Diagnosis(Verdict.FAILED, "", (), launch=Launch(text, text, ready_command=text))
    launch = redact(diagnosis).launch
    assert launch is not None
    assert launch.original == launch.corrected == launch.ready_command
    assert redact(redact(diagnosis)) == redact(diagnosis)
    return launch.corrected


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (f"docker run -e HF_TOKEN={HF} image", 'docker run -e "HF_TOKEN=$HF_TOKEN" image'),
        (f"docker run --env HF_TOKEN={HF} image", 'docker run --env "HF_TOKEN=$HF_TOKEN" image'),
        (f"docker run --env=HF_TOKEN={HF} image", 'docker run --env="HF_TOKEN=$HF_TOKEN" image'),
        (f"docker run \\\n  -e 'HF_TOKEN={HF}' \\\n  image", 'docker run \\\n  -e "HF_TOKEN=$HF_TOKEN" \\\n  image'),
        (f'docker run -e "HF_TOKEN={HF}" image', 'docker run -e "HF_TOKEN=$HF_TOKEN" image'),
        (f"HF_TOKEN={HF} vllm serve m", 'HF_TOKEN="$HF_TOKEN" vllm serve m'),
        (f"export HF_TOKEN='{HF}'\nvllm serve m", 'export HF_TOKEN="$HF_TOKEN"\nvllm serve m'),
        (f"vllm serve m --api-key {KEY}", 'vllm serve m --api-key "$VLLM_API_KEY"'),
        (f"vllm serve m --api-key={KEY} --port 1", 'vllm serve m --api-key="$VLLM_API_KEY" --port 1'),
        (f"vllm serve m --api-key '{KEY}'", 'vllm serve m --api-key "$VLLM_API_KEY"'),
        (f"vllm serve m --hf-token {HF}", 'vllm serve m --hf-token "$HF_TOKEN"'),
        ("docker run -e MY_PASSWORD=correcthorse1 image", 'docker run -e "MY_PASSWORD=$MY_PASSWORD" image'),
        ("docker run -e VLLM_API_KEY image", "docker run -e VLLM_API_KEY image"),
        (
            f"services:\n  a:\n    environment:\n      HF_TOKEN: {HF}\n      - HF_TOKEN={HF}\n",
            "services:\n  a:\n    environment:\n      HF_TOKEN: ${HF_TOKEN}\n      - HF_TOKEN=${HF_TOKEN}\n",
        ),
        (
            f"services:\n  a:\n    command: --model m --api-key {KEY} --port 1\n",
            "services:\n  a:\n    command: --model m --api-key ${VLLM_API_KEY} --port 1\n",
        ),
        (
            f"services:\n  a:\n    command:\n      - --api-key\n      - {KEY}\n",
            'services:\n  a:\n    command:\n      - --api-key\n      - "${VLLM_API_KEY}"\n',
        ),
    ],
)  # fmt: skip
def test_a_secret_becomes_a_variable(before: str, after: str) -> None:
    assert shown(before) == after
    if not after.startswith("services"):
        assert shlex.split(after)


def test_a_manifest_keeps_its_placeholder() -> None:
    text = f"apiVersion: v1\nkind: Pod\nspec:\n  env:\n  - name: HF_TOKEN\n    value: {HF}\n"
    assert "value: <hf-token-1>" in shown(text)


def test_what_is_no_secret_stays_as_redaction_left_it() -> None:
    assert shown("docker run -e VLLM_HOST_IP=10.0.0.7 image") == "docker run -e VLLM_HOST_IP=<private-ip-1> image"
