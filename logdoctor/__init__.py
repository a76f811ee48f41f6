"""logdoctor: read a vLLM server's log and say whether it is up, why not, and what to type.

    from logdoctor import diagnose

    report = diagnose("server.log", facts={"gpu.name": "GB10"})
    report.verdict, report.root_cause, report.exit_status()
    print(report.render("markdown"))

`diagnose` takes bytes, a path or lines; `Diagnoser` takes a stream piece by piece; `check_launch` looks at a launch
before it runs. All return a `Report`, which is frozen, redacted and can be pickled. See `logdoctor.api`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

__version__ = "0.1.0"

if TYPE_CHECKING:
    from logdoctor.api import Diagnoser, LogdoctorError, Report, check_launch, diagnose
    from logdoctor.model import Finding, Remedy, Role, Severity, Verdict

__all__ = [
    "Diagnoser",
    "Finding",
    "LogdoctorError",
    "Remedy",
    "Report",
    "Role",
    "Severity",
    "Verdict",
    "__version__",
    "check_launch",
    "diagnose",
]


def __getattr__(name: str) -> object:
    """Load what is asked for: importing the package alone costs nothing."""
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from importlib import import_module

    home = "api" if name in ("Diagnoser", "LogdoctorError", "Report", "check_launch", "diagnose") else "model"
    return getattr(import_module(f"{__name__}.{home}"), name)


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
