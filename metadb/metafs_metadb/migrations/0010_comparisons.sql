-- 0010_comparisons.sql: what was kept and what it took without memory, beside its score; views that
-- leave out excluded problems, and a `best_run` with all columns of `run`.

alter table run add column features_without_memory integer;
alter table run add column seconds_without_memory double;  -- of choosing a pipeline

drop view speedup;
drop view leaderboard;
drop view best_run;

-- The run a problem is remembered by: highest nested score, then cheapest, then latest.
create view best_run as
select *
from run
where status = 'solved'
qualify row_number() over (
    partition by problem_id
    order by nullif(score, 'nan') desc nulls last, n_evaluations asc nulls last, run_id desc
) = 1;

-- What each way of solving earned and cost, over the solved runs of problems that are not excluded.
create view leaderboard as
select
    selector,
    transfer,
    learner,
    distance,
    count(*)               as n_runs,
    avg(score)             as mean_score,
    avg(non_nested_score)  as mean_non_nested_score,
    avg(fitness)           as mean_fitness,
    avg(n_evaluations)     as mean_evaluations,
    avg(
        coalesce(duration_s."describe", 0) + coalesce(duration_s.recall, 0)
        + coalesce(duration_s.expect, 0) + coalesce(duration_s."select", 0)
        + coalesce(duration_s.learn, 0) + coalesce(duration_s.record, 0)
    )                      as mean_seconds
from run
where status = 'solved'
  and problem_id in (select problem_id from problem where not excluded)
group by selector, transfer, learner, distance;

-- What memory saved. The target is the fitness with which the cold run of the same problem,
-- selector, params and seed ended; counted are the evaluations after which each run first had a
-- recorded set that good. A warm run that never got there is charged all its evaluations, so that
-- `ratio` has no gaps; `reached` tells them apart. The latest run of each kind speaks.
create view speedup as
with latest as (
    select *, json_merge_patch(params, '{"target_score": null}') as method
    from run
    where status = 'solved'
      and problem_id in (select problem_id from problem where not excluded)
    qualify row_number() over (
        partition by problem_id, selector, method, seed, transfer order by run_id desc
    ) = 1
),
cold as (
    select r.*, min(c.step) as evaluations
    from latest r
    join candidate c using (run_id)
    where r.transfer = 'none' and c.fitness >= r.fitness - 1e-12  -- equal sets may differ in the last bits
    group by all
),
warm as (
    select
        r.*,
        cold.run_id       as cold_run_id,
        cold.fitness      as cold_fitness,
        cold.evaluations  as cold_evaluations
    from latest r
    join cold
        on r.problem_id = cold.problem_id
        and r.selector = cold.selector
        and r.method = cold.method
        and r.seed is not distinct from cold.seed
    where r.transfer <> 'none'
),
reached as (
    select w.run_id, w.cold_run_id, min(c.step) as evaluations
    from warm w
    join candidate c using (run_id)
    where c.fitness >= w.cold_fitness - 1e-12
    group by w.run_id, w.cold_run_id
)
select
    p.space,
    p.name,
    w.problem_id,
    w.selector,
    w.seed,
    w.transfer,
    w.cold_run_id,
    w.run_id                                         as warm_run_id,
    w.cold_fitness,
    w.fitness                                        as warm_fitness,
    w.cold_evaluations,
    coalesce(r.evaluations, w.n_evaluations)         as warm_evaluations,
    r.evaluations is not null                        as reached,
    w.cold_evaluations / nullif(coalesce(r.evaluations, w.n_evaluations), 0)  as ratio
from warm w
join problem p using (problem_id)
left join reached r on r.run_id = w.run_id and r.cold_run_id = w.cold_run_id;
