"""Stands for the evaluation of a model: an accuracy that depends on the seed.

python examples/gate/evaluate.py --seed 3
"""

import argparse
import random

parser = argparse.ArgumentParser()
parser.add_argument("--seed", type=int, required=True)
parser.add_argument("--truth", type=float, default=0.97, help="the accuracy, on average over the seeds")
given = parser.parse_args()
print("accuracy:", min(random.Random(given.seed).gauss(given.truth, 0.01), 1.0))  # noqa: S311
