"""Coverage-guided fuzzing; see README.md."""
