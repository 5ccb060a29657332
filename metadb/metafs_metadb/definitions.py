"""What the best run of a problem is, and what a relative score: the one definition of each.

The view `best_run` in `migrations/0006_nested_scores.sql` has the same order; a migration cannot
change afterwards, so a test checks that the two agree.
"""

BEST_FIRST = "nullif(r.score, 'nan') desc nulls last, r.n_evaluations asc nulls last, r.run_id desc"
"""The order of the runs r of a problem, the one it is remembered by first."""

IS_BEST = f"row_number() over (partition by r.problem_id order by {BEST_FIRST}) = 1"
"""For ``qualify``: of the runs r that are asked for, the best of each problem."""

SCORE = "least(greatest(coalesce(nullif(s.q, 'nan'), 0), 0), 1.7976931348623157e308)"
"""The score of a selection s from 0 to the largest double: unknown is 0, infinite the largest."""

ELSEWHERE = -1
"""The problem_id of a neighbour that this memory has forgotten, or that stayed behind when its run
was exported."""

FORGOTTEN = "a forgotten problem"

INTERRUPTED = "interrupted"
"""What a run that Ctrl-C cut short has as `stopped`: the problem is solved again when it is met."""

IS_WHOLE = f"status = 'solved' and stopped is distinct from '{INTERRUPTED}'"
"""For ``where``: of equal content and settings there is one such run."""

FIT_OF = "fit of "
"""How the source of a problem begins that the ``fit`` of an estimator was given."""


def relative(best: str) -> str:
    """Return the score of a selection s as a share of the best of its run, a column's name.

    Examples
    --------
    >>> relative("b.q")[:29]
    'case when b.q > 0 then least('
    """
    return f"case when {best} > 0 then {SCORE} / {best} else 0 end"
