"""The queries of `reporting` over all problems: features, pipelines, what memory gained."""

SECONDS = """
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
    coalesce(sum({SECONDS}), 0)                                       as seconds,
    (select count(*) from feature f where $space is null or f.space = $space) as n_features
from problem p
left join run r using (problem_id)
where $space is null or p.space = $space
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
    avg({SECONDS})                                           as mean_seconds
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
    select r.*, {SECONDS} as seconds
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
    case when r.saving is null then {SECONDS}
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
