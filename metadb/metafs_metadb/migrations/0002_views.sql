-- 0002_views.sql: the questions people ask first, as views that `metafs sql` can build on.

-- The run a problem is remembered by: highest honest score, then cheapest, then latest.
create view best_run as
select *
from run
where status = 'solved'
qualify row_number() over (
    partition by problem_id
    order by score desc nulls last, n_evaluations asc nulls last, run_id desc
) = 1;

-- How each feature did in the best runs of its space.
create view best_feature as
select
    f.space,
    f.name,
    count(*)                                as n_problems,
    count(*) filter (where s.selected)      as n_selected,
    avg(s.q)                                as mean_q,
    avg(s.quality)                          as mean_quality
from best_run r
join problem p using (problem_id)
join selection s using (run_id)
join feature f using (feature_id)
where not p.excluded
group by f.space, f.name;

-- In what share of the solved problems of its space each feature was selected.
create view core_feature as
with solved as (
    select p.space, r.run_id, count(*) over (partition by p.space) as n_problems
    from best_run r
    join problem p using (problem_id)
    where not p.excluded
)
select
    f.space,
    f.name,
    count(*)                            as n_selected,
    any_value(v.n_problems)             as n_problems,
    count(*) / any_value(v.n_problems)  as share
from solved v
join selection s using (run_id)
join feature f using (feature_id)
where s.selected
group by f.space, f.name;

-- What each way of solving earned and cost, over all solved runs.
create view leaderboard as
select
    selector,
    transfer,
    learner,
    distance,
    count(*)               as n_runs,
    avg(score)             as mean_score,
    avg(optimistic_score)  as mean_optimistic_score,
    avg(fitness)           as mean_fitness,
    avg(n_evaluations)     as mean_evaluations,
    avg(
        coalesce(duration_s."describe", 0) + coalesce(duration_s.recall, 0)
        + coalesce(duration_s.expect, 0) + coalesce(duration_s."select", 0)
        + coalesce(duration_s.learn, 0) + coalesce(duration_s.record, 0)
    )                      as mean_seconds
from run
where status = 'solved'
group by selector, transfer, learner, distance;

-- Evaluations a warm run needed to reach what the cold run of the same problem, selector, params
-- and seed ended with; null when it never did. The latest run of each kind speaks.
create view speedup as
with latest as (
    select *
    from run
    where status = 'solved'
    qualify row_number() over (
        partition by problem_id, selector, params, seed, transfer order by run_id desc
    ) = 1
),
pair as (
    select
        cold.problem_id,
        cold.selector,
        cold.seed,
        warm.transfer,
        cold.run_id   as cold_run_id,
        warm.run_id   as warm_run_id,
        cold.fitness  as cold_fitness,
        warm.fitness  as warm_fitness
    from latest cold
    join latest warm
        on warm.problem_id = cold.problem_id
        and warm.selector = cold.selector
        and warm.params = cold.params
        and warm.seed is not distinct from cold.seed
    where cold.transfer = 'none' and warm.transfer <> 'none'
),
reached as (
    select
        pair.cold_run_id,
        pair.warm_run_id,
        min(c.step) filter (where c.run_id = pair.cold_run_id)  as cold_evaluations,
        min(c.step) filter (where c.run_id = pair.warm_run_id)  as warm_evaluations
    from pair
    join candidate c
        on c.run_id in (pair.cold_run_id, pair.warm_run_id)
        and c.fitness >= pair.cold_fitness - 1e-12   -- equal sets may differ in the last bits
    group by pair.cold_run_id, pair.warm_run_id
)
select
    p.space,
    p.name,
    pair.*,
    reached.cold_evaluations,
    reached.warm_evaluations,
    reached.cold_evaluations / nullif(reached.warm_evaluations, 0)  as ratio
from pair
join problem p using (problem_id)
left join reached using (cold_run_id, warm_run_id);
