"""Reads the tables of `data/versions.json` out of vLLM wheels; used by `regenerate` only, never at run time."""
