"""The findings that no file under `signatures/` holds, described as signatures are, so that `explain` can tell of them.

They come from the version tables (`absences`) and from what is left when nothing matches (`unknown`).
"""

from __future__ import annotations

from logdoctor.database.schema import Example, Examples, RemedySpec, Signature
from logdoctor.model import Basis, Confidence, Phase, Severity

_TABLES = "logdoctor/knowledge/data/versions.json"
_WRONG = (
    "The log is of a build between releases or of a fork that has the name, or the version in the log is not the one "
    "that read the setting."
)


_LINES = {
    "unknown-variable": "Unknown vLLM environment variable detected: VLLM_NVFP4_MOE_BACKEND",
    "unknown-flag": "vllm: error: unrecognized arguments: --swap-space 4",
    "unknown-value": "vllm serve: error: argument --reasoning-parser: invalid choice: 'nemotron'",
    "unknown-parser": "non-default args: {'model': 'MODEL', 'reasoning_parser': 'nemotron'}",
}


def _missing(name: str, title: str, severity: Severity, cause: str, remedies: tuple[RemedySpec, ...]) -> Signature:
    return Signature(
        id=name,
        title=title,
        severity=severity,
        phase=Phase.COMMAND_LINE,
        cause=cause,
        confidence=Confidence.CERTAIN,
        basis=Basis.SOURCE,
        remedies=remedies,
        verify="The next start neither refuses nor warns of the name.",
        wrong_when=_WRONG,
        examples=Examples((Example(_LINES[name]),)),
        references=(_TABLES, "https://docs.vllm.ai/en/latest/configuration/"),
    )


_USE = RemedySpec("Use the successor or the nearest valid name that the report names")
_DROP = RemedySpec("Remove it")
_OTHER = RemedySpec("Or use a vLLM version that has it, where the report names one")

STARTS_CUT_OFF = Signature(
    id="starts-cut-off",
    title="Earlier starts ended without a word before they were up: something ends them from outside",
    severity=Severity.ERROR,
    phase=Phase.SHUTDOWN,
    cause="Each of these starts broke off in the middle, and another one began. vLLM writes an error when it fails by "
    "itself, so it was killed: by a probe or a limit of the start that does not wait long enough, by the kernel for "
    "lack of host memory, or by hand. Starts that break off at about the same age speak for a limit.",
    confidence=Confidence.LIKELY,
    basis=Basis.MAINTAINERS,
    remedies=(
        RemedySpec(
            "Kubernetes: look for a failed probe or OOMKilled in the events", "host", "kubectl describe pod POD"
        ),
        RemedySpec(
            "Docker: exit code 137 or OOMKilled true means killed",
            "host",
            "docker inspect NAME --format '{{.State.ExitCode}} {{.State.OOMKilled}} {{.RestartCount}}'",
        ),
        RemedySpec("Ask the kernel", "host", "sudo dmesg -T | grep -i 'killed process'"),
    ),
    verify="The next start prints: Application startup complete",
    wrong_when="Somebody restarted it on purpose, or the log is put together of pieces.",
    examples=Examples((Example("a log in which one start after another ends while it still loads"),)),
    references=("https://kubernetes.io/docs/concepts/configuration/liveness-readiness-startup-probes/",),
)
"""What `restarts` finds over all boots of a service."""

OWN_FINDINGS: tuple[Signature, ...] = (
    STARTS_CUT_OFF,
    _missing(
        "unknown-variable",
        "An environment variable that this version of vLLM does not know",
        Severity.WARNING,
        "The variable has no effect. Each release reads its own set of VLLM_ variables; from 0.17.0 on the start warns "
        "of others, before that it ignored them silently. The report says which release dropped or will bring it.",
        (_USE, _DROP, _OTHER),
    ),
    _missing(
        "unknown-flag",
        "A command-line flag that this version of vLLM does not have",
        Severity.FATAL,
        "argparse refuses what it does not know, and nothing starts. The report says which release dropped or will "
        "bring the flag.",
        (_USE, _DROP, _OTHER),
    ),
    _missing(
        "unknown-value",
        "A value that this version of vLLM does not take for a flag",
        Severity.FATAL,
        "The flag has a fixed list of values, which changes from release to release. The report says which release "
        "dropped or will bring the value.",
        (_USE, _DROP, _OTHER),
    ),
    _missing(
        "unknown-parser",
        "A reasoning or tool parser that this version of vLLM does not have",
        Severity.ERROR,
        "Parsers are registered by name in each release; another name needs a plug-in file that registers it. The "
        "report says which release dropped or will bring the parser.",
        (_USE, RemedySpec("Or give the plug-in file that registers it"), _OTHER),
    ),
    Signature(
        id="unknown-failure",
        title="The server failed, and the database does not know how",
        severity=Severity.FATAL,
        phase=Phase.LAUNCH,
        cause="No signature explains the failure. The report names the exception that began it, in the process that "
        "failed first, the phase, the last healthy line and a fingerprint that is the same for the same failure "
        "elsewhere.",
        confidence=Confidence.POSSIBLE,
        basis=Basis.SOURCE,
        remedies=(
            RemedySpec("Draft a signature for it", "host", "logdoctor signatures new LOG"),
            RemedySpec("Draft a bug report for vLLM", "host", "logdoctor --format issue LOG"),
        ),
        verify="The next start gets past the phase.",
        examples=Examples((Example("RuntimeError: any exception or error that no entry of the database matches"),)),
        wrong_when="The log is an excerpt and the first error stands above it, or on the stream that was not taken.",
        references=("https://github.com/vllm-project/vllm/issues",),
    ),
)
