"""A launch diagnosed before it runs, and the corrected launch of a diagnosis."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from functools import cache

import pytest

from logdoctor.database import Database, load_database
from logdoctor.diagnosis import diagnose_records
from logdoctor.diagnosis.launch_check import corrected_launch, diagnose_launch, launch_diagnosis_facts, launch_notes
from logdoctor.launch import LaunchError, facts, read_launch
from logdoctor.model import (
    Basis,
    BootDiagnosis,
    Confidence,
    Diagnosis,
    Fact,
    FactValue,
    Finding,
    Remedy,
    Role,
    Severity,
    Verdict,
)
from logdoctor.reading import read_text
from logdoctor.report.redaction import redact
from logdoctor.report.status import exit_status

SUPER = "nvidia/NVIDIA-Nemotron-3-Super-120B-A12B-NVFP4"
HEAD = "docker run --gpus all -v ~/.cache/huggingface:/root/.cache/huggingface --ipc=host -p 8000:8000 "


@cache
def database() -> Database:
    return load_database((), environ={})


def check(text: str, **given: FactValue) -> Diagnosis:
    stated = {key.replace("__", "."): value for key, value in given.items()}
    return diagnose_launch(text, database(), {key: Fact(key, value, origin="given") for key, value in stated.items()})


def ids(diagnosis: Diagnosis) -> dict[str, Finding]:
    assert diagnosis.boot is not None
    return {finding.id: finding for finding in diagnosis.boot.findings}


def test_a_launch_that_holds_nothing_wrong() -> None:
    diagnosis = check(f"{HEAD} vllm/vllm-openai:v0.20.0 Qwen/Qwen3-8B --max-model-len 8192", gpu__name="NVIDIA H100")
    assert diagnosis.verdict is Verdict.READY
    assert diagnosis.summary == "the launch of vLLM 0.20.0 holds nothing known to keep the server from starting"
    assert ids(diagnosis) == {}
    assert exit_status(diagnosis, Severity.ERROR) == 0
    assert diagnosis.launch is not None
    assert diagnosis.launch.original == diagnosis.launch.corrected


LAUNCH = f"""\
docker run -d --gpus all --ipc=host -p 8000:8000 \\
  -e VLLM_NVFP4_MOE_BACKEND=marlin \\
  vllm/vllm-openai:v0.20.0 \\
  serve {SUPER} \\
  --moe-backend flashinfer_trtllm \\
  --max-model-length 8192 \\
  --block-size 16 \\
  --reasoning-parser super_v3
"""


def test_a_launch_that_cannot_work() -> None:
    diagnosis = check(LAUNCH, gpu__name="NVIDIA GB10")
    found = ids(diagnosis)
    assert diagnosis.verdict is Verdict.FAILED
    assert exit_status(diagnosis, Severity.ERROR) == 1
    assert diagnosis.root_cause is not None
    assert diagnosis.root_cause.id == "launch-program-repeated"
    assert diagnosis.summary.startswith("the launch of vLLM 0.20.0 cannot work as it is: The command says serve")
    roles = [finding.role for finding in found.values()]
    assert roles.count(Role.ROOT_CAUSE) == 1
    lines = {name: [evidence.line for evidence in finding.evidence] for name, finding in found.items()}
    assert lines["launch-program-repeated"] == [4]
    assert lines["launch-moe-backend-sm100-only"] == [5]
    assert lines["unknown-flag"] == [6]
    assert lines["hybrid-block-size-overridden"] == [7]
    assert lines["unknown-parser"] == [8]
    assert found["env-nvfp4-moe-backend-silent"].evidence[0].text == "-e VLLM_NVFP4_MOE_BACKEND=marlin \\"
    ranks = [finding.severity.rank for finding in found.values()]
    assert ranks == sorted(ranks, reverse=True)


def test_the_corrected_launch_of_a_check() -> None:
    launch = check(LAUNCH, gpu__name="NVIDIA GB10").launch
    assert launch is not None
    assert launch.original == LAUNCH
    assert (
        launch.corrected
        == f"""\
docker run -d --gpus all --ipc=host -p 8000:8000 \\
  vllm/vllm-openai:v0.20.0 \\
  {SUPER} \\
  --moe-backend marlin \\
  --max-model-len 8192 \\
  --reasoning-parser nemotron_v3
"""
    )
    assert launch.ready_command == " ".join(launch.corrected.replace("\\\n", " ").split())
    assert "+  --moe-backend marlin \\" in launch.diff.splitlines()
    assert "--moe-backend marlin (launch-moe-backend-sm100-only)" in launch.applied
    assert "--max-model-len 8192 (unknown-flag)" in launch.applied


def test_a_corrected_launch_needs_no_more_correction() -> None:
    first = check(LAUNCH, gpu__name="NVIDIA GB10").launch
    assert first is not None
    again = check(first.corrected, gpu__name="NVIDIA GB10")
    assert again.verdict is Verdict.READY
    assert again.launch is not None
    assert again.launch.corrected == first.corrected


MISSPELT = """\
docker run --gpus all --ipc=host vllm/vllm-openai:v0.20.0 Qwen/Qwen3-8B \\
  --tensor-paralel-size=1 \\
  --max-model-length $LEN \\
  --enforce-eagr \\
  --kv-cache-dtype fp8_e4m33 \\
  --moe-backend marlinn
"""


def test_every_misspelt_flag_and_value_is_corrected_in_its_place() -> None:
    launch = check(MISSPELT).launch
    assert launch is not None
    assert (
        launch.corrected
        == """\
docker run --gpus all --ipc=host vllm/vllm-openai:v0.20.0 Qwen/Qwen3-8B \\
  --tensor-parallel-size=1 \\
  --max-model-len $LEN \\
  --enforce-eager \\
  --kv-cache-dtype fp8_e4m3 \\
  --moe-backend marlin
"""
    )


def test_what_only_resembles_a_flag_is_not_changed_unasked() -> None:
    launch = check("vllm serve m --enable-prefix-cashing-of-all 3").launch
    assert launch is not None
    assert "cashing" not in launch.corrected
    assert "--enable-prefix-caching" not in launch.corrected


@pytest.mark.parametrize(
    ("text", "given", "expected"),
    [
        ("vllm serve m --moe-backend marlin", {"vllm.version": "0.16.0"}, "unknown-flag"),
        ("vllm serve m --quantization nope", {"vllm.version": "0.16.0"}, "unknown-value"),
        ("vllm serve m --max-model-length 1", {}, "unknown-flag"),
        ("VLLM_NO_SUCH=1 vllm serve m", {"vllm.version": "0.17.1"}, "unknown-variable"),
        (f"vllm serve {SUPER}", {"vllm.version": "0.15.0"}, "model-newer-than-vllm"),
        ("vllm serve Qwen/Qwen3-8B --tool-call-parser mistral", {}, "tool-parser-of-another-model"),
        (f"vllm serve {SUPER} --tool-call-parser mistral", {}, "nemotron-tool-parser-of-another-model"),
        (
            "vllm serve m --mamba-backend flashinfer --mamba-ssu-algorithm horizontal",
            {"vllm.version": "0.28.0", "gpu.name": "NVIDIA A100 80GB"},
            "mamba-ssu-horizontal-off-hopper",
        ),
        (
            f"vllm serve {SUPER} --enable-prefix-caching --max-num-batched-tokens 1024",
            {"vllm.version": "0.20.0"},
            "hybrid-batched-tokens-below-block",
        ),
        ("vllm serve x/Big-120B-BF16", {"gpu.name": "NVIDIA H100"}, "launch-weights-do-not-fit"),
        ("vllm serve x/y --max-model-len 262144", {"gpu.name": "NVIDIA H100"}, "launch-long-context-many-sequences"),
        ("vllm serve x/y -tp 2 --max-model-len 262144", {"gpu.name": "NVIDIA H100"}, None),
        ("vllm serve x/y-8B --max-model-len 262144", {"gpu.name": "NVIDIA H100"}, "launch-long-context-many-sequences"),
        ("vllm serve x/y-8B --max-model-len 262144 --max-num-seqs 8", {"gpu.name": "NVIDIA H100"}, None),
        ("vllm serve x/Big-120B-NVFP4", {"gpu.name": "NVIDIA GB10"}, None),
        ("vllm serve x/y --tensor-parallel-size 2", {"gpu.count": 1}, "launch-more-ranks-than-gpus"),
        ("vllm serve --seed 1", {}, "default-model-served"),
        ("docker run vllm/vllm-openai:v0.20.0 m", {}, "launch-container-without-gpu"),
    ],
)
def test_what_is_found_by_facts_alone(text: str, given: Mapping[str, FactValue], expected: str | None) -> None:
    stated = {key: Fact(key, value, origin="given") for key, value in given.items()}
    found = ids(diagnose_launch(text, database(), stated))
    if expected is None:
        assert not [one for one in found if one.startswith("launch-") and one != "launch-hub-cache-not-kept"]
    else:
        assert expected in found


def test_every_refused_value_has_its_finding() -> None:
    diagnosis = check("vllm serve m --quantization x --kv-cache-dtype y", vllm__version="0.20.0")
    assert diagnosis.boot is not None
    titles = [finding.title for finding in diagnosis.boot.findings if finding.id == "unknown-value"]
    assert titles == [
        "vLLM 0.20.0 does not take x for --quantization",
        "vLLM 0.20.0 does not take y for --kv-cache-dtype",
    ]


def test_what_is_given_outweighs_the_tag() -> None:
    text = f"{HEAD} vllm/vllm-openai:v0.16.0 m --moe-backend marlin"
    assert "unknown-flag" in ids(check(text))
    assert "unknown-flag" not in ids(check(text, vllm__version="0.20.0"))


def test_what_is_not_known_is_said() -> None:
    boot = check("vllm serve $MODEL").boot
    assert boot is not None
    notes = " ".join(boot.notes)
    assert "vllm.version" in notes and "gpu.name" in notes and "what $MODEL stands for" in notes


def test_facts_of_a_launch_hold_what_was_given() -> None:
    launch = read_launch("vllm serve x/Big-120B-NVFP4 --tensor-parallel-size 2")
    known = launch_diagnosis_facts(launch, {"gpu.name": Fact("gpu.name", "NVIDIA H100", origin="given")})
    assert known["gpu.compute_capability"].value == "9.0"
    assert (known["launch.cards"].value, known["launch.weights_fit"].value) == (2, True)


def test_secrets_of_a_launch_pass_through_redaction() -> None:
    token = "hf_" + "aBcDeFgHiJkLmNoPqRsTuVwXyZ012345"
    text = f"{HEAD} -e HF_TOKEN={token} vllm/vllm-openai:v0.20.0 m --api-key sk-verysecret0123456789 --seed 1"
    launch = redact(check(text)).launch
    assert launch is not None
    shown = (launch.original, launch.corrected, launch.ready_command, launch.diff, *launch.applied, *launch.skipped)
    assert not any(token in text or "verysecret" in text for text in shown)
    assert "--seed 1" in launch.corrected


def test_a_text_that_is_no_launch() -> None:
    with pytest.raises(LaunchError):
        check("hello")


# -- the corrected launch of a log ------------------------------------------------------------------------------------


def finding(name: str, role: Role, severity: Severity, *remedies: tuple[str, str]) -> Finding:
    chosen = tuple(Remedy("s", kind, command, "", name) for kind, command in remedies)
    return Finding(name, name, severity, role, Confidence.LIKELY, Basis.SOURCE, "cause", remedies=chosen)


def diagnosis_of(*findings: Finding, **stated: FactValue) -> Diagnosis:
    known = {key.replace("__", "."): Fact(key.replace("__", "."), value, 1) for key, value in stated.items()}
    boot = BootDiagnosis(1, Verdict.FAILED, "weights", (1, 9), findings=findings, facts=known)
    return Diagnosis(Verdict.FAILED, "x", (boot,))


def test_whose_remedies_are_applied() -> None:
    diagnosis = diagnosis_of(
        finding("root", Role.ROOT_CAUSE, Severity.FATAL, ("flag", "--max-model-len 8192")),
        finding("warning", Role.CONTRIBUTING, Severity.WARNING, ("flag", "--moe-backend marlin")),
        finding("second", Role.CONTRIBUTING, Severity.WARNING, ("config", "x"), ("flag", "--kv-cache-dtype fp8")),
        finding("info", Role.NOTICE, Severity.INFO, ("flag", "--seed 3"), ("remove", "--block-size")),
        finding("unknown-variable", Role.NOTICE, Severity.INFO, ("remove", "VLLM_X")),
        finding("after", Role.CONSEQUENCE, Severity.FATAL, ("remove", "--dtype")),
    )
    launch = corrected_launch(diagnosis, "VLLM_X=1 vllm serve m --block-size 16 --dtype half")
    assert launch is not None
    assert launch.corrected == "vllm serve m --block-size 16 --dtype half --max-model-len 8192"


def test_between_causes_nothing_is_applied() -> None:
    diagnosis = diagnosis_of(
        finding("root", Role.ROOT_CAUSE, Severity.FATAL, ("flag", "--max-model-len 8192")),
        finding("rival", Role.ROOT_CAUSE, Severity.FATAL, ("flag", "--enforce-eager")),
        finding("unknown-variable", Role.NOTICE, Severity.INFO, ("remove", "VLLM_X")),
    )
    launch = corrected_launch(diagnosis, "VLLM_X=1 vllm serve m")
    assert launch is not None
    assert launch.original == launch.corrected
    assert launch.applied == ()
    assert launch.skipped[0] == "--max-model-len 8192 (the log does not decide between the causes)"


def test_a_contribution_replaces_nothing() -> None:
    both = finding("unknown-variable", Role.CONTRIBUTING, Severity.WARNING, ("flag", "--linear-backend marlin"))
    both = replace(both, remedies=(*both.remedies, Remedy("s", "remove", "VLLM_X", "", "", True)))
    root = finding("root", Role.ROOT_CAUSE, Severity.FATAL, ("flag", "--max-model-len 8192"))
    launch = corrected_launch(diagnosis_of(root, both), "VLLM_X=marlin vllm serve m")
    assert launch is not None
    assert launch.corrected == "vllm serve m --max-model-len 8192"


def test_without_a_launch_the_command_of_the_log_is_rebuilt() -> None:
    root = finding("root", Role.ROOT_CAUSE, Severity.FATAL, ("flag", "--max-model-len 8192"))
    launch = corrected_launch(diagnosis_of(root, args=True, args__model_tag="m", args__max_model_len=9), None)
    assert launch is not None
    assert launch.corrected == "vllm serve m --max-model-len 8192\n"
    assert any("docker options" in text for text in launch.unknown)
    assert corrected_launch(diagnosis_of(root), None) is None


def test_a_file_to_paste_is_named() -> None:
    text = "services: {a: {image: 'vllm/vllm-openai', command: [m]}}"
    launch = corrected_launch(diagnosis_of(), text, source="nemo.yaml")
    assert launch is not None
    assert launch.ready_command == "docker compose -f nemo.yaml up -d --force-recreate a"


def test_a_log_outweighs_its_launch() -> None:
    log = "(APIServer pid=1) INFO 11-30 10:17:44 [api_server.py:1] vLLM API server version 0.20.0\n"
    stated = facts(read_launch("docker run -e VLLM_X=1 acme/vllm:v2.17.1 m"))
    boot = diagnose_records(read_text(log), database(), given=stated).boot
    assert boot is not None
    assert boot.facts["vllm.version"].value == "0.20.0"
    assert boot.facts["env.VLLM_X"].value == "1"


# -- manifests and compose files --------------------------------------------------------------------------------------

POD = """\
apiVersion: apps/v1
kind: Deployment
metadata: {name: vllm}
spec:
  template:
    spec:
      containers:
      - name: vllm
        image: vllm/vllm-openai:v0.22.0
        args: ["Qwen/Qwen3-32B", "--tensor-parallel-size", "2"]
        resources: {limits: {nvidia.com/gpu: 1}}
        livenessProbe: {httpGet: {path: /health, port: 8000}, initialDelaySeconds: 30, periodSeconds: 5}
---
apiVersion: v1
kind: Service
metadata: {name: vllm}
spec: {selector: {app: vllm}, ports: [{port: 8000}]}
"""


SHM = "shm, emptyDir: {medium: Memory}}]"


def commands(text: str, name: str) -> list[tuple[str, str]]:
    found = [one for one in check(text).boots[0].findings if one.id == name]
    return [(remedy.kind, remedy.command) for one in found for remedy in one.remedies if remedy.command]


@pytest.mark.parametrize(
    ("old", "new", "seconds"),
    [
        ("", "", 45),
        ("initialDelaySeconds: 30, periodSeconds: 5", "initialDelaySeconds: 5", 35),
        (", periodSeconds: 5", ", periodSeconds: 10, failureThreshold: 6", 90),
    ],
)
def test_a_liveness_probe_that_ends_the_load(old: str, new: str, seconds: int) -> None:
    text = POD.replace(old, new) if old else POD
    titles = {one.id: one.title for one in check(text).boots[0].findings}
    assert f"after {seconds} s" in titles["launch-liveness-probe-kills"]
    ((kind, command),) = commands(text, "launch-liveness-probe-kills")
    assert kind == "config"
    assert command.startswith("startupProbe: {httpGet: {path: /health, port: 8000}")


@pytest.mark.parametrize(
    ("old", "new", "warned"),
    [
        ("livenessProbe", "startupProbe: {httpGet: {path: /health, port: 8000}}\n        livenessProbe", False),
        ("livenessProbe", "readinessProbe", False),
        (", periodSeconds: 5", ", periodSeconds: 30", True),
        ("initialDelaySeconds: 30", "initialDelaySeconds: 900", False),
    ],
)
def test_a_patient_liveness_probe(old: str, new: str, warned: bool) -> None:
    found = {one.id for one in check(POD.replace(old, new)).boots[0].findings}
    assert "launch-liveness-probe-kills" not in found
    assert ("launch-liveness-probe-short" in found) is warned


@pytest.mark.parametrize(
    ("old", "new", "told"),
    [
        ("", "", True),
        ("kind: Service\nmetadata: {name: vllm}", "kind: Service\nmetadata: {name: llm}", False),
        ("      containers:", "      enableServiceLinks: false\n      containers:", False),
        ("        args:", "        env: [{name: VLLM_PORT, value: '5000'}]\n        args:", False),
        ("kind: Service", "kind: ConfigMap", False),
    ],
)
def test_a_service_named_vllm(old: str, new: str, told: bool) -> None:
    text = POD.replace(old, new) if old else POD
    assert bool(commands(text, "launch-service-named-vllm")) is told


def test_what_a_manifest_says_wrong_has_its_line() -> None:
    shown = {one.id: [evidence.text for evidence in one.evidence] for one in check(POD).boots[0].findings}
    assert shown["launch-liveness-probe-kills"][0].startswith("livenessProbe:")
    assert shown["launch-service-named-vllm"] == ["metadata: {name: vllm}"]


def test_more_gpus_are_asked_for_before_the_model_is_spread_less() -> None:
    assert commands(POD, "launch-more-ranks-than-gpus")[0] == ("config", "nvidia.com/gpu: 2")
    docker = "docker run --gpus '\"device=0\"' vllm/vllm-openai:v0.22.0 Qwen/Qwen3-8B --tensor-parallel-size 2"
    assert commands(docker, "launch-more-ranks-than-gpus")[0] == ("host", "--gpus all")
    for text in (POD, docker):
        launch = check(text).launch
        assert launch is not None
        assert "--tensor-parallel-size 1" not in launch.corrected
        assert "to be changed by hand" in launch.skipped[0]


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        (POD, {f"volumes: [{{name: {SHM}", "volumeMounts: [{name: shm, mountPath: /dev/shm}]"}),
        (
            "services: {a: {image: 'vllm/vllm-openai:v0.22.0', gpus: all, command: [m, -tp, '2']}}",
            {"ipc: host", "shm_size: 16g"},
        ),
        ("docker run --gpus all vllm/vllm-openai:v0.22.0 m -tp 2", {"--ipc=host", "--shm-size=16g"}),
    ],
)  # fmt: skip
def test_shared_memory_in_the_words_of_what_starts_the_container(text: str, wanted: set[str]) -> None:
    assert {command for _, command in commands(text, "launch-shared-memory-small")} == wanted


def test_a_service_without_gpu_is_to_be_given_one_by_hand() -> None:
    text = "services: {a: {image: 'vllm/vllm-openai:v0.22.0', command: [m]}}"
    ((kind, command),) = commands(text, "launch-container-without-gpu")
    assert (kind, command.partition(":")[0]) == ("config", "deploy")
    launch = check(text).launch
    assert launch is not None
    assert launch.skipped == (f"{command} (no argument of vLLM; to be changed by hand)",)


def test_dead_variables_become_flags_where_they_were_meant_so() -> None:
    names = "-e VLLM_NVFP4_GEMM_BACKEND=marlin -e VLLM_NVFP4_MOE_BACKEND=marlin -e VLLM_ATTENTION_BACKEND=FLASHINFER"
    launch = check(f"docker run --gpus all --ipc=host {names} vllm/vllm-openai:v0.24.0 /m").launch
    assert launch is not None
    assert "VLLM_" not in launch.corrected
    assert "--moe-backend marlin" in launch.corrected
    assert "--linear-backend marlin" in launch.corrected
    assert "--attention-backend" not in launch.corrected


def test_what_is_not_applied_is_said() -> None:
    text = "services: {a: {image: 'vllm/vllm-openai:v0.22.0', command: [m]}}"
    (note,) = check(text).notes
    assert note.startswith("Not applied to the launch, to be done by hand: deploy: {resources:")
    host = finding("root", Role.ROOT_CAUSE, Severity.FATAL, ("host", "nvidia-smi"), ("flag", "--max-model-len 8192"))
    rival = finding("rival", Role.ROOT_CAUSE, Severity.FATAL, ("flag", "--enforce-eager"))
    told = list(launch_notes(corrected_launch(diagnosis_of(host), "vllm serve m")))
    assert told == ["Not applied to the launch, to be done by hand: nvidia-smi"]
    told = list(launch_notes(corrected_launch(diagnosis_of(host, rival), "vllm serve m")))
    assert told == ["Nothing is applied to the launch: the log does not decide between the causes."]
    assert list(launch_notes(corrected_launch(diagnosis_of(host, launch__contradicts="x"), "vllm serve m"))) == []
