"""logdoctor: read a vLLM server's log and say whether it is up, why not, and what to type."""

__version__ = "0.1.0"
