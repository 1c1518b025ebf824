"""Random spaces with constraints that leave something, and an oracle that says whether a setting is allowed."""

from fractions import Fraction

from hypothesis import strategies as st

from satisfice import Mixture

ROUNDING = Fraction(1, 10**11)


class Sum:
    """A linear constraint, its text and its exact value."""

    def __init__(self, weights, bound, *, at_most):
        terms = " ".join(f"{'-' if weight < 0 else '+'} {abs(weight)} {name}" for name, weight in weights.items())
        self.given = f"{terms} {'<=' if at_most else '>='} {bound!r}"
        self.weights, self.bound, self.sign = weights, Fraction(bound), 1 if at_most else -1

    def allows(self, params):
        terms = [Fraction(weight) * Fraction(params[name]) for name, weight in self.weights.items()]
        slack = ROUNDING * (sum(map(abs, terms)) + abs(self.bound))
        return self.sign * (sum(terms) - self.bound) <= slack


class Parts:
    """Parts of a whole."""

    def __init__(self, names, total):
        self.given, self.names, self.total = Mixture(names, total=total), names, total

    def allows(self, params):
        return abs(sum(params[name] for name in self.names) - self.total) <= 1e-9 * self.total


class Near:
    """A function: near a point, by the largest difference, relative to the ranges; choices must be equal if `strict`."""

    def __init__(self, centre, widths, radius, *, strict):
        self.centre, self.widths, self.radius, self.strict, self.given = centre, widths, radius, strict, self.allows

    def allows(self, params):
        for name, value in self.centre.items():
            if name not in self.widths:
                if self.strict and params[name] != value:
                    return False
            elif abs(params[name] - value) > self.radius * self.widths[name]:
                return False
        return True


class Outside:
    """A function: not too near a point, which leaves a region with a hole."""

    def __init__(self, names, hole):
        self.names, self.hole, self.given = names, hole, lambda params: self.allows(params)

    def allows(self, params):
        return any(abs(params[name] - middle) > width for name, middle, width in self.hole)


def one_parameter(draw, name):
    """A short form, a value of it, and its width; None for choices."""
    kind = draw(st.sampled_from(["real", "real", "real", "log", "whole", "log whole", "step", "choice", "constant"]))
    at = draw(st.floats(0.05, 0.95))
    if kind == "real":
        low = draw(st.sampled_from([0.0, -3.0, 100.0]))
        width = draw(st.sampled_from([1.0, 0.01, 40.0]))
        return (low, low + width), low + at * width, width
    if kind == "log":
        return (1e-4, 1.0, "log"), 1e-4 ** (1 - at), 1.0
    if kind == "whole":
        high = draw(st.sampled_from([3, 30, 1000]))
        return (0, high), round(at * high), float(high)
    if kind == "log whole":
        return (1, 500, "log"), round(500**at), 499.0
    if kind == "step":
        return (0.0, 2.0, 0.1), round(20 * at) / 10, 2.0
    if kind == "constant":
        return [2.5], 2.5, 0.0
    return ["u", "v", "w"], draw(st.sampled_from(["u", "v", "w"])), None


@st.composite
def limited_spaces(draw):
    """A space, its constraints, all of which a point of it satisfies with room to spare, and whether there is a continuum."""
    count = draw(st.integers(1, 5))
    space, inner, widths = {}, {}, {}
    for k in range(count):
        space[f"p{k}"], inner[f"p{k}"], width = one_parameter(draw, f"p{k}")
        if width is not None:
            widths[f"p{k}"] = width
    limits = []
    if draw(st.booleans()) or all(isinstance(each, list) for each in space.values()):
        shares = [draw(st.floats(0.1, 1.0)) for _ in range(draw(st.integers(2, 4)))]
        total = draw(st.sampled_from([1.0, 100.0]))
        names = [f"m{k}" for k in range(len(shares))]
        for name, share in zip(names, shares, strict=True):
            value = total * share / sum(shares)
            space[name] = (max(0.0, value - 0.4 * total), min(total, value + draw(st.floats(0.1, 0.6)) * total))
            inner[name], widths[name] = value, total
        limits.append(Parts(names, total))
    moving = {name: width for name, width in widths.items() if width > 0}
    for _ in range(draw(st.integers(0 if limits else 1, 2))):
        names = draw(st.lists(st.sampled_from(sorted(widths)), min_size=1, max_size=3, unique=True))
        if not set(names) & set(moving):
            continue
        weights = {name: draw(st.sampled_from([1.0, -1.0, 2.0, 0.5])) for name in names}
        sign = draw(st.sampled_from([1, -1]))
        room = draw(st.floats(0.02, 0.5)) * sum(abs(weight) * widths[name] for name, weight in weights.items())
        value = sum(weight * inner[name] for name, weight in weights.items())
        limits.append(Sum(weights, value + sign * room, at_most=sign > 0))
    if draw(st.booleans()) and not any(isinstance(each, Parts) for each in limits):
        limits.append(Near(inner, moving, draw(st.floats(0.15, 0.6)), strict=draw(st.booleans())))
    if draw(st.booleans()) and moving:
        names = sorted(moving)[:2]
        far = [(name, inner[name] + 0.4 * moving[name], 0.3 * moving[name]) for name in names]
        limits.append(Outside(names, far))
    return space, limits
