"""The queries of `listing`: lists for people."""

FIND_PROBLEM = """
select
    problem_id, space, name, source, fingerprint, n_samples, n_features, target, created_at,
    excluded
from problem
where name = $name and ($space is null or space = $space)
order by problem_id desc
limit 1
"""

PROBLEMS = """
select
    p.problem_id, p.space, p.name, p.target, p.n_samples, p.n_features,
    count(r.run_id)                                     as n_runs,
    count(r.run_id) filter (where r.status = 'failed')  as n_failed,
    max(nullif(r.score, 'nan'))                         as best_score,
    p.excluded, p.source, p.fingerprint, p.created_at
from problem p
left join run r using (problem_id)
where $space is null or p.space = $space
group by all
order by p.problem_id
"""

RUNS = """
select
    r.run_id, p.name as problem, p.space, r.status, r.selector, r.transfer, r.learner, r.distance,
    r.seed, r.n_selected, r.fitness, r.score, r.non_nested_score, r.scoring, r.n_evaluations,
    r.stopped, r.prior_used,
    list_sum(list_filter(
        [r.duration_s."describe", r.duration_s.recall, r.duration_s.expect, r.duration_s."select",
         r.duration_s.learn, r.duration_s.record],
        lambda seconds: seconds is not null
    )) as seconds,
    r.started_at, r.error
from run r
join problem p using (problem_id)
where ($problem is null or p.name = $problem)
  and ($status is null or r.status = $status)
  and ($selector is null or r.selector = $selector)
order by r.run_id
limit $limit
"""

FEATURES_OF_PROBLEM = """
select p.space, p.name as problem, f.name, s.rank, s.q, s.quality, s.expected
from best_run r
join problem p using (problem_id)
join selection s using (run_id)
join feature f using (feature_id)
where p.name = $problem and ($space is null or p.space = $space) and s.selected
order by p.problem_id, s.rank nulls last, f.feature_id
limit $limit
"""

FEATURES = """
select
    b.space, b.name, b.n_problems, b.n_selected, coalesce(c.share, 0) as share,
    b.mean_q, b.mean_quality
from best_feature b
left join core_feature c using (space, name)
where $space is null or b.space = $space
order by b.n_selected desc, b.mean_quality desc nulls last, b.space, b.name
limit $limit
"""
