"""Diagnosis: which signatures match, which of them is the root cause, what to do, and how the boot stands."""

from __future__ import annotations

from logdoctor.diagnosis.engine import BootObserver, diagnose_records

__all__ = ["BootObserver", "diagnose_records"]
