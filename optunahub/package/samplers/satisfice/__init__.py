"""A sampler that looks for a target, and the callback that ends the study when the target is met for certain."""

from satisfice import GoodActionSampler, answer_of, stop_when_certain

__all__ = ["GoodActionSampler", "answer_of", "stop_when_certain"]
