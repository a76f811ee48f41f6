"""How a real vLLM's start becomes a sample; `tests/record.py` is the command."""
