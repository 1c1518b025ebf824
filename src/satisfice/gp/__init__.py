"""The Gaussian process: kernels, posterior, evidence, paths, and the models that turn values into a belief."""
