"""The queries of `reporting`: what a page about a memory shows.

`$space` is null for all spaces. `$run_ids` are the best runs of the problems shown; of each the
page lists the first `$per_problem` selected features, `CHOSEN`.
"""

from metafs_metadb.definitions import BEST_FIRST

_SECONDS = """
    coalesce(r.duration_s."describe", 0) + coalesce(r.duration_s.recall, 0)
    + coalesce(r.duration_s.expect, 0) + coalesce(r.duration_s."select", 0)
    + coalesce(r.duration_s.learn, 0) + coalesce(r.duration_s.record, 0)
"""

COUNTS = f"""
select
    count(distinct p.problem_id)                                       as n_problems,
    count(distinct p.problem_id) filter (where r.status = 'solved')    as n_solved,
    count(r.run_id)                                                    as n_runs,
    count(r.run_id) filter (where r.status = 'failed')                 as n_failed_runs,
    coalesce(sum({_SECONDS}), 0)                                       as seconds,
    (select count(*) from feature f where $space is null or f.space = $space) as n_features
from problem p
left join run r using (problem_id)
where $space is null or p.space = $space
"""

# The latest problems, each with the run that it is remembered by, or with its last error.
PROBLEMS = f"""
with shown as (
    select * from problem
    where $space is null or space = $space
    order by problem_id desc
    limit $most
),
best as (
    select r.*, {_SECONDS} as seconds
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

# How each feature did in the best runs of the problems shown.
FEATURES = """
select
    f.feature_id, f.space, f.name,
    count(*)                                 as n_problems,
    count(*) filter (where s.selected)       as n_selected,
    avg(s.quality) filter (where s.selected and isfinite(s.quality)) as mean_quality
from selection s
join feature f using (feature_id)
where s.run_id in (select unnest($run_ids::bigint[]))
group by f.feature_id, f.space, f.name
having n_selected > 0
order by n_selected desc, mean_quality desc nulls last, f.feature_id
limit $features
"""

FEATURE_NAMES = """
select feature_id, space, name from feature
where feature_id in (select unnest($feature_ids::bigint[]))
"""

PROBLEM_NAMES = """
select problem_id, name from problem where problem_id in (select unnest($problem_ids::bigint[]))
"""

# The cells of the map of features and problems.
CELLS = """
with chosen as (
    select run_id, feature_id, selected, rank
    from selection
    where run_id in (select unnest($run_ids::bigint[]))
)
select
    run_id, feature_id,
    case when selected then row_number() over (
        partition by run_id, selected order by rank nulls last, feature_id
    ) end as place
from chosen
qualify feature_id in (select unnest($feature_ids::bigint[]))
"""

LEADERBOARD = f"""
select
    r.selector, r.learner, r.transfer,
    count(distinct r.problem_id)                              as n_problems,
    count(*)                                                  as n_runs,
    avg(r.score) filter (where isfinite(r.score))             as mean_score,
    avg(r.score - r.no_skill) filter (where isfinite(r.score - r.no_skill)) as over_no_skill,
    avg(r.score - r.all_features) filter (where isfinite(r.score - r.all_features))
                                                              as over_all_features,
    avg(r.n_selected)                                         as mean_selected,
    avg({_SECONDS})                                           as mean_seconds
from run r
join problem p using (problem_id)
where r.status = 'solved' and ($space is null or p.space = $space)
group by r.selector, r.learner, r.transfer
order by over_no_skill desc nulls last, mean_score desc nulls last, r.selector, r.learner
limit 200
"""

# The pipelines that `auto` tried; only where there is a score of no skill to compare with.
PIPELINES = """
with scored as (
    select
        r.run_id, r.problem_id, r.no_skill, r.pipeline, t.selector, t.learner, t.size,
        avg(t.score) as score, sum(t.seconds) as seconds
    from trial t
    join run r using (run_id)
    join problem p using (problem_id)
    where isfinite(t.score) and ($space is null or p.space = $space)
    group by all
)
select
    selector, learner,
    count(distinct problem_id)                                     as n_problems,
    count(*)                                                       as n_trials,
    avg(score - no_skill) filter (where isfinite(score - no_skill)) as over_no_skill,
    count(distinct run_id) filter (
        where pipeline->>'selector' = selector and pipeline->>'learner' = learner
    )                                                              as n_chosen,
    sum(seconds)                                                   as seconds
from scored
group by selector, learner
order by n_chosen desc, over_no_skill desc nulls last, selector, learner
limit 200
"""

# Runs that were compared with one without memory: in the same run, where it was checked, or by two
# runs of one problem with the same selector and learner, of which the latest of each kind speak.
GAINS = f"""
with latest as (
    select r.*, {_SECONDS} as seconds
    from run r
    join problem p using (problem_id)
    where r.status = 'solved' and ($space is null or p.space = $space)
    qualify row_number() over (
        partition by r.problem_id, r.selector, r.learner, r.transfer = 'none'
        order by r.run_id desc
    ) = 1
)
select
    r.problem_id, 'checked' as kind,
    r.score, r.without_memory as cold_score,
    r.n_selected, r.features_without_memory as cold_selected,
    r.saving.evaluations as n_evaluations, r.saving.cold_evaluations as cold_evaluations,
    case when r.saving is null then {_SECONDS}
         else r.saving.seconds + coalesce(r.duration_s.record, 0) end as seconds,
    coalesce(r.saving.cold_seconds, r.seconds_without_memory) as cold_seconds,
    r.saving.reached as reached
from run r
join problem p using (problem_id)
where r.status = 'solved' and ($space is null or p.space = $space)
  and (r.saving is not null or r.without_memory is not null)
union all
select
    w.problem_id, 'two runs', w.score, c.score, w.n_selected, c.n_selected,
    w.n_evaluations, c.n_evaluations, w.seconds, c.seconds,
    w.fitness >= c.fitness - 1e-12 or c.fitness is null
from latest w
join latest c
    on c.problem_id = w.problem_id and c.selector = w.selector
    and c.learner is not distinct from w.learner
where w.transfer <> 'none' and c.transfer = 'none' and w.prior_used is not null
order by problem_id, kind
"""

# What memory of each strength was worth with few labels, on the problems for which all are known.
LOSSES = """
select
    t.n_labels, t.strength, avg(t.loss) as loss, count(*) as n_problems,
    count(*) filter (where t.loss > o.loss) as n_worse
from transfer_loss t
join transfer_loss o on o.run_id = t.run_id and o.n_labels = t.n_labels and o.strength = 0
join run r on r.run_id = t.run_id
join problem p using (problem_id)
where t.n_labels > 0 and ($space is null or p.space = $space)
  and isfinite(t.loss) and isfinite(o.loss)
group by t.n_labels, t.strength
order by t.n_labels, t.strength
"""
