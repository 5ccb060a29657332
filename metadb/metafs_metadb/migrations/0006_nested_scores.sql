-- 0006_nested_scores.sql: `score` is the nested score of a run, and the other one is named for what
-- it is: the selection was made once, outside the folds, from all rows.

drop view leaderboard;
drop view best_run;

alter table run rename column optimistic_score to non_nested_score;

-- The run a problem is remembered by: highest nested score, then cheapest, then latest.
create view best_run as
select *
from run
where status = 'solved'
qualify row_number() over (
    partition by problem_id
    order by nullif(score, 'nan') desc nulls last, n_evaluations asc nulls last, run_id desc
) = 1;

-- What each way of solving earned and cost, over all solved runs.
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
group by selector, transfer, learner, distance;
