"""The paper's claims over the records of a variant, each judged by the one procedure of `judge`."""

from dataclasses import dataclass
from pathlib import Path

from satisfice.paper.experiments import claim_parts as parts
from satisfice.paper.experiments import regret_parts as regret
from satisfice.paper.experiments.blocks import Archive
from satisfice.paper.experiments.judge import Judged, Statement, judge
from satisfice.paper.experiments.spec import Variant


@dataclass(frozen=True)
class Claim:
    """What the paper says, in statements that can be tested, and the variants in which it can be."""

    number: int
    says: str
    statements: tuple[Statement, ...]
    variants: tuple[Variant, ...] = ("paper", "paper-local", "published")

    def check(self, out: Path, variant: Variant) -> tuple[Judged, tuple[Judged, ...]]:
        """The verdict on the claim and on each of its statements, by the records in a folder."""
        archive = Archive(out, variant)
        return judge(self.says, [(statement.says, statement.parts(archive)) for statement in self.statements])


CLAIMS = (
    Claim(1, "elimination's lenient regret stops, that of ucb grows slowly, and elimination performs slightly better", (
        Statement("ucb and elimination start alike", regret.start_alike),
        Statement("elimination's lenient regret flattens out", regret.elimination_stops),
        Statement("ucb's lenient regret keeps growing, slowly", regret.ucb_grows_slowly),
        Statement("the standard regret grows more", regret.standard_grows),
        Statement("elimination performs slightly better", regret.elimination_better),
    )),
    Claim(2, "synthetic functions: pg and eg are fastest, and gs is a little slower", (
        Statement("pg and eg need fewer evaluations than every optimiser", parts.leaders_faster),
        Statement("gs is a little slower than pg and eg", parts.gs_little_slower),
    )),
    Claim(3, "real functions: pg is best, noticeably on robot pushing", (
        Statement("robot pushing: pg is noticeably better than every other rule", parts.pg_clearly_best_on_robots),
        Statement("xgboost: pg is better than every other rule", parts.pg_best_on_xgboost),
    )),
    Claim(4, "noise: pg's gain is considerable on keane and small on ackley", (
        Statement("keane: pg is considerably better than every optimiser", parts.gain_considerable_on_keane),
        Statement("ackley: pg is better than every optimiser", parts.gain_visible_on_ackley),
        Statement("the gain is larger on keane than on ackley", parts.gain_larger_on_keane),
    )),
    Claim(5, "a lower target makes every rule faster and draws the curves together", (
        Statement("a lower target makes every rule faster", parts.lower_is_faster),
        Statement("a lower target draws the curves together", parts.curves_draw_together),
    )),
    Claim(6, "no good action: the simple regret of pg and eg goes to zero; gs is less robust; pi has a few stuck runs", (
        Statement("the simple regret of pg and eg goes to zero", regret.regret_vanishes),
        Statement("gs is less robust than pg and eg", regret.gs_less_robust),
        Statement("pi's poor mean on robot3 comes from a few stuck runs", regret.pi_stuck),
    )),
    Claim(7, "sts is best where the centre is good, level with pg on keane, and worse where the centre is bad", (
        Statement("dropwave: sts is better than every other rule", parts.sts_best_at_centre),
        Statement("keane: sts and pg are level", parts.sts_level_on_keane),
        Statement("shifted dropwave: sts is clearly worse than pg", parts.sts_clearly_worse_when_shifted),
    )),
    Claim(8, "Theorems 1 and 2 hold on functions of known norm, and lenient regret is far below sqrt(T) growth", (
        Statement("the regrets keep within the bounds", regret.within_bounds),
        Statement("the bad actions grow far more slowly than sqrt(T)", regret.far_below_root),
    ), variants=("paper", "paper-local")),
)  # fmt: skip
