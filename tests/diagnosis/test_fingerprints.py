"""A fingerprint is that of the fault: no secret, host, number or path of the moment changes it."""

from __future__ import annotations

import pytest

from tests.diagnosis.build import banner, boot, lines, raised

FAULT = "OSError: You are trying to access a gated repo with {token} at {host} from {path}: line {number}"
HERE = {"token": "hf_QkZtRwPxLsVbNmYcHdGjKeUaTfZr", "host": "10.0.0.1", "path": "/home/alice/m", "number": "17"}


def fingerprint(**values: str) -> str:
    found = boot(lines(banner(), raised(FAULT.format(**(HERE | values))))).findings
    assert found and found[0].fingerprint
    return found[0].fingerprint


@pytest.mark.parametrize(
    "other",
    [
        {"token": "hf_AAAtRwPxLsVbNmYcHdGjKeUaTBBB"}, {"host": "10.9.8.7"}, {"path": "/home/bob/m"}, {"number": "99"},
    ],
)  # fmt: skip
def test_what_changes_from_run_to_run_changes_no_fingerprint(other: dict[str, str]) -> None:
    assert fingerprint() == fingerprint(**other)


@pytest.mark.parametrize("secret", ["hf_QkZtRwPxLsVbNmYcHdGjKeUaTfZr", "hunter2", "another word"])
def test_a_secret_in_an_error_that_nobody_knows_changes_no_fingerprint(secret: str) -> None:
    def of(value: str) -> str:
        found = boot(lines(banner(), raised(f"OddError: refused api_key='{value}' here"))).findings
        return next(one.fingerprint for one in found if one.id == "unknown-failure")

    assert of(secret) == of("sk-TESTSECRET-abc123")


def test_another_fault_has_another_fingerprint() -> None:
    other = boot(lines(banner(), raised("torch.OutOfMemoryError: CUDA out of memory"))).findings
    assert other[0].fingerprint != fingerprint()
