"""Searches that are kept: spaces of named parameters, studies in a storage, many workers. Everything that knows Optuna."""
