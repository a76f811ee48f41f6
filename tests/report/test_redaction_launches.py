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


@pytest.mark.parametrize(
    "text",
    [
        "docker run -e HF_TOKEN vllm/vllm-openai:v0.22.0 Qwen/Qwen3-8B --tensor-parallel-size 2",
        "docker run -d \\\n  -e HF_TOKEN \\\n  vllm/vllm-openai:v0.22.0 Qwen/Qwen3-8B",
        'docker run -e "HF_TOKEN" vllm/vllm-openai:v0.22.0 Qwen/Qwen3-8B',
        "docker run -de HF_TOKEN vllm/vllm-openai:v0.22.0 Qwen/Qwen3-8B",
        "docker run --env HF_TOKEN --env VLLM_API_KEY vllm/vllm-openai:v0.22.0 Qwen/Qwen3-8B",
        "docker run --env=VLLM_API_KEY vllm/vllm-openai:v0.22.0 Qwen/Qwen3-8B",
        "docker build --build-arg HF_TOKEN v2x",
        "srun --container-env=VLLM_API_KEY,HF_TOKEN vllm9x",
        "export HF_TOKEN S3_BUCKET9\nvllm serve m",
        "services:\n  v:\n    environment:\n      - HF_TOKEN\n      - VLLM_API_KEY\n"
        "    command: m --api-key $KEY\n    gpus: all\n",
        "services:\n  v:\n    command: m --api-key ${KEY}\n    gpus: all\n",
        "vllm serve m --api-key $key --port 1",
        'vllm serve m --api-key "$api_key" --port 1',
        "vllm serve m --api-key $1",
        "vllm serve m --api-key $(cat /run/secrets/key) --port 1",
        'vllm serve m --api-key "$(cat /run/secrets/key)" --port 1',
        'docker run -e "HF_TOKEN=$HF_TOKEN" -e VLLM_API_KEY=$token vllm/vllm-openai:v0.22.0 m',
    ],
)  # fmt: skip
def test_a_name_or_a_reference_is_no_secret(text: str) -> None:
    assert shown(text) == text


def test_a_name_passed_on_hides_no_secret_elsewhere() -> None:
    text = f"docker run -e HF_TOKEN -e VLLM_API_KEY={KEY} img:v1 --api-key {KEY} secret9"
    assert (
        shown(text)
        == 'docker run -e HF_TOKEN -e "VLLM_API_KEY=$VLLM_API_KEY" img:v1 --api-key "$VLLM_API_KEY" <api-key-2>'
    )
