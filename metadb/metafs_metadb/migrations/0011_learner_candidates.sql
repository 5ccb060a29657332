-- 0011_learner_candidates.sql: what a learner tried, for learners that tell, as moses does.

-- One row for each candidate that the learner kept while it learned from all rows.
create table learner_candidate (
    run_id     bigint  not null,
    output     varchar,            -- the class that it is of
    candidate  varchar not null,   -- json: a program, with features by name
    size       bigint  not null,   -- literals of a program
    score      double  not null    -- minus the number of errors on the rows it was learned from
);

alter table run add column least_score double;      -- that a candidate of this problem can have
alter table run add column greatest_score double;
alter table run add column n_learner_candidates bigint;   -- rows above, for `metafs db check`

insert into tally values ('learner_candidate', 0);

-- With all columns of `run`.
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
