-- 0007_trials.sql: every pipeline that was tried on a problem, and what the chosen one is compared with.

-- One row for each fold on which a pipeline was scored.
create table trial (
    run_id    bigint  not null,
    selector  varchar not null,   -- that ranked the columns; 'all' keeps every column
    params    varchar not null,   -- json: parameters of the selector that are not its defaults
    size      bigint,             -- how many columns were kept; null where the selector decides
    learner   varchar not null,
    fold      integer not null,
    score     double,
    seconds   float   not null
);

alter table run add column pipeline varchar;      -- json: selector, size and learner that were chosen
alter table run add column all_features double;   -- score of a linear model on all columns
alter table run add column no_skill double;       -- score of guessing
alter table run add column n_trials bigint;       -- rows this run wrote above, for `metafs db check`

insert into tally values ('trial', 0);
