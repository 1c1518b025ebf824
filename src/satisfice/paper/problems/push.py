"""Robot pushing: where must the hand start, and how long must it push, so that the disc ends at the goal?

The problem is that of Z. Wang and S. Jegelka (Max-value entropy search for efficient Bayesian optimization, ICML
2017) with the goal at (3, 4), simulated by the engine Box2D. A hand (a rectangle) is driven towards the origin, where
a disc lies; both are held to the table by friction. The value is 5 - |final position of the disc - goal|, at most 5.
Every evaluation builds a world of its own, so equal points have equal values.
"""

import math
from functools import cache
from types import ModuleType

import numpy as np

from satisfice.domain.box import Box
from satisfice.extras import load_extra
from satisfice.paper.problems.problem import Problem
from satisfice.types import Array

BOX2D = ("Box2D", "push")  # the package and its extra
GOAL = (3.0, 4.0)
_STEP, _ITERATIONS = 0.01, 10  # seconds; of the solver for velocities, and of that for positions
_COAST = 100  # steps after the push
_GAIN = 30.0  # force and torque for one unit of missing velocity and one unit of mass


@cache
def _engine() -> ModuleType:
    return load_extra(*BOX2D)


def pushed(x: float, y: float, angle: float, speed: float, steps: int) -> tuple[float, float]:
    """Where the disc lies after a push from (x, y), the hand at this angle, lasting this many steps of 0.01 s.

    The hand (mass m) feels the force 30 m (v - its velocity), v being of this speed and pointing to the origin, and
    the torque -30 m (its angular velocity).
    """
    engine = _engine()
    if x == 0 and y == 0:
        y = 1e-6  # from the origin itself there would be no direction to push in
    world = engine.b2World(gravity=(0, 0))
    table = world.CreateStaticBody()
    disc = world.CreateDynamicBody(position=(0, 0))
    disc.CreateFixture(shape=engine.b2CircleShape(radius=1), density=0.05, friction=0.01)
    world.CreateFrictionJoint(bodyA=table, bodyB=disc, maxForce=5, maxTorque=2)
    hand = world.CreateDynamicBody(position=(x, y), angle=angle)
    hand.CreateFixture(shape=engine.b2PolygonShape(box=(0.3, 1)), density=0.1, friction=0.1)
    world.CreateFrictionJoint(bodyA=table, bodyB=hand, maxForce=2, maxTorque=2)

    distance = math.hypot(x, y)
    velocity = engine.b2Vec2(-x / distance * speed, -y / distance * speed)
    gain = _GAIN * hand.mass
    for _ in range(steps):
        hand.ApplyTorque(-gain * hand.angularVelocity, True)
        hand.ApplyForceToCenter(gain * (velocity - hand.linearVelocity), True)
        world.Step(_STEP, _ITERATIONS, _ITERATIONS)
    for _ in range(_COAST):
        world.Step(_STEP, _ITERATIONS, _ITERATIONS)
    return disc.position.x, disc.position.y


def _reward(place: tuple[float, float]) -> float:
    return 5 - math.dist(place, GOAL)


def robot3(X: Array) -> Array:
    """5 - |disc - goal| for rows (r_x, r_y, r_t): speed 5, int(10 r_t) steps, hand angle arctan(r_y / r_x).

    r_x = 0 means the angle pi / 2.
    """
    return np.array([_reward(_push3(*row)) for row in X.tolist()])


def _push3(x: float, y: float, duration: float) -> tuple[float, float]:
    angle = math.pi / 2 if x == 0 else math.atan(y / x)
    return pushed(x, y, angle, 5.0, int(10 * duration))


def robot4(X: Array) -> Array:
    """5 - |disc - goal| for rows (r_x, r_y, r_theta, r_t): speed 10, int(10 r_t) steps, hand angle r_theta."""
    return np.array([_reward(pushed(x, y, angle, 10.0, int(10 * t))) for x, y, angle, t in X.tolist()])


_PLACE, _DURATION = (-5.0, 5.0), (1.0, 30.0)

PUSH = (
    Problem(
        "robot3",
        Box([_PLACE, _PLACE, _DURATION]),
        robot3,
        maximum=5.0,
        maximisers=((-1.6377, -2.1836, 19.6466),),
        etas=(4.75, 4.5, 4.0, 5.1, 5.5),
        exact=False,
        needs=BOX2D,
    ),
    Problem(
        "robot4",
        Box([_PLACE, _PLACE, (0.0, 2 * math.pi), _DURATION]),
        robot4,
        maximum=5.0,
        maximisers=((-1.17565, -3.83527, 0.79504, 26.53427),),
        etas=(4.75, 4.5, 4.0),
        exact=False,
        needs=BOX2D,
    ),
)
