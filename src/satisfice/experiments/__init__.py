"""The paper's experiments: what they are, running them into records, and reading figures and claims out of the records."""
