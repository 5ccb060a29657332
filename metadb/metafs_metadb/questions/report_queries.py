"""The queries of `reporting`: what a page about a memory shows.

`$space` is null for all spaces. `$run_ids` are the best runs of the problems shown; of each the
page lists the first `$per_problem` selected features, `CHOSEN`.
"""

from metafs_metadb.definitions import BEST_FIRST
from metafs_metadb.questions.report_totals import SECONDS

# The latest problems, each with the run that it is remembered by, or with its last error.
PROBLEMS = f"""
with shown as (
    select * from problem
    where $space is null or space = $space
    order by problem_id desc
    limit $most
),
best as (
    select r.*, {SECONDS} as seconds
    from run r
    join shown using (problem_id)
    where r.status = 'solved'
    qualify row_number() over (partition by r.problem_id order by {BEST_FIRST}) = 1
),
tried as (
    select
        r.problem_id,
        count(*)                                                    as n_runs,
        count(*) filter (where r.status = 'failed')                 as n_failed,
        arg_max(r.error, r.run_id) filter (where r.status = 'failed') as error
    from run r
    join shown using (problem_id)
    group by r.problem_id
)
select
    p.problem_id, p.space, p.name, p.target, p.n_samples, p.n_features, p.created_at, p.excluded,
    coalesce(t.n_runs, 0) as n_runs, coalesce(t.n_failed, 0) as n_failed, t.error,
    b.run_id, b.selector, b.learner, b.transfer, b.prior_used, b.pipeline, b.n_selected, b.fitness,
    b.score, b.scoring, b.all_features, b.no_skill, b.without_memory, b.n_evaluations, b.seconds
from shown p
left join best b using (problem_id)
left join tried t using (problem_id)
order by p.problem_id
"""

_CHOSEN = """
chosen as (
    select run_id, feature_id, rank, quality, weight, from_memory
    from selection
    where selected and run_id in (select unnest($run_ids::bigint[]))
    qualify row_number() over (
        partition by run_id order by rank nulls last, feature_id
    ) <= $per_problem
)"""

# The weight is that of the model with memory, else the largest one of the reference model.
CHOSEN = f"""
with {_CHOSEN},
reference as (
    select
        r.run_id, w.feature_id,
        arg_max(w.weight, abs(w.weight)) as weight,
        arg_max(w.output, abs(w.weight)) as output
    from chosen c
    join run r using (run_id)
    join reference_model m on m.problem_id = r.problem_id
    join weight w on w.run_id = m.run_id and w.feature_id = c.feature_id
    group by r.run_id, w.feature_id
)
select
    c.run_id, c.feature_id, c.quality, coalesce(c.weight, f.weight) as weight, c.from_memory,
    f.output
from chosen c
left join reference f using (run_id, feature_id)
order by c.run_id, c.rank nulls last, c.feature_id
"""

# Neighbours that a run with a prior asked, and whose best run until then selected the feature.
PROPOSED = f"""
with {_CHOSEN},
earlier as (
    select n.run_id, n.problem_id, n.rank, r.run_id as its_run_id
    from neighbour n
    join run mine on mine.run_id = n.run_id
    join run r on r.problem_id = n.problem_id
    where n.run_id in (select unnest($run_ids::bigint[]))
      and mine.prior_used is not null and r.status = 'solved' and r.run_id < n.run_id
    qualify row_number() over (
        partition by n.run_id, n.problem_id order by {BEST_FIRST}
    ) = 1
)
select c.run_id, c.feature_id, list(e.problem_id order by e.rank)[1:$sources] as problem_ids
from chosen c
join earlier e using (run_id)
join selection s on s.run_id = e.its_run_id and s.feature_id = c.feature_id
where s.selected
group by c.run_id, c.feature_id
"""

# The parts of a remembered weight, by past problem, as `metafs.memory.carriers` has them: a
# coefficient of each direction, output by output, times the direction's weight. The run keeps the
# part of one output, the one whose sum is nearest to it.
CARRIED = f"""
with {_CHOSEN},
direction as (
    select
        b.run_id, b.coefficients, len(b.problem_ids) as n,
        unnest(range(len(b.problem_ids))) as place,
        unnest(b.problem_ids) as problem_id, unnest(b.outputs) as output
    from belief b
    where b.run_id in (select unnest($run_ids::bigint[]))
),
term as (
    select d.run_id, d.problem_id, d.output, o.own, d.coefficients[o.own * d.n + d.place + 1] as a
    from direction d, lateral (select unnest(range(len(d.coefficients) // d.n)) as own) o
),
part as (
    select c.run_id, c.feature_id, c.from_memory, t.own, t.problem_id, sum(t.a * w.weight) as part
    from chosen c
    join term t using (run_id)
    join reference_model m on m.problem_id = t.problem_id
    join weight w
        on w.run_id = m.run_id and w.feature_id = c.feature_id
        and w.output is not distinct from t.output
    where isfinite(c.from_memory) and c.from_memory <> 0
    group by all
),
nearest as (
    select run_id, feature_id, own
    from (
        select run_id, feature_id, own, abs(sum(part) - any_value(from_memory)) as gap
        from part
        group by run_id, feature_id, own
    )
    qualify row_number() over (partition by run_id, feature_id order by gap, own) = 1
)
select
    p.run_id, p.feature_id,
    list(p.problem_id order by abs(p.part) desc, p.problem_id)[1:$sources] as problem_ids
from part p
join nearest using (run_id, feature_id, own)
where abs(p.part) > 1e-9
group by p.run_id, p.feature_id
"""

NEIGHBOURS = """
select run_id, problem_id, distance
from neighbour
where run_id in (select unnest($run_ids::bigint[])) and rank <= $neighbours
order by run_id, rank
"""

# Mean scores of the pipelines that were tried, by size.
TRIALS = """
select run_id, selector, learner, size, avg(score) as score, count(*) as n_folds
from trial
where run_id in (select unnest($run_ids::bigint[])) and score is not null and size is not null
group by run_id, selector, learner, size
order by run_id, selector, learner, size
"""

# The fittest recorded set of each size.
SETS = """
select run_id, len(features) as size, max(fitness) as fitness
from candidate
where run_id in (select unnest($run_ids::bigint[])) and len(features) > 0 and isfinite(fitness)
group by run_id, size
order by run_id, size
"""

STABILITY = """
select problem_id, selector, n_resamples, jensen_shannon, by_chance, kuncheva
from stability
where problem_id in (select unnest($problem_ids::bigint[]))
qualify row_number() over (partition by problem_id order by stability_id desc) = 1
order by problem_id
"""

BELIEFS = """
select run_id, strength, gain, reason
from belief
where run_id in (select unnest($run_ids::bigint[]))
order by run_id
"""
