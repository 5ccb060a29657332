-- 0008_models.sql: models in hand: the files they were saved in, and what the linear model of a
-- problem needs besides its weights to predict new rows.

-- The file that holds the model of a problem, as saved last.
create table saved_model (
    problem_id  bigint    not null,
    folder      varchar   not null,   -- its whole path
    file        varchar   not null,
    saved_at    timestamp not null    -- UTC
);

-- How raw columns become those of a reference model: the columns with a weight, and where only some
-- columns are words, all that are. A word without a weight still counts in the length of a row.
create table reference_column (
    run_id      bigint  not null,
    feature_id  bigint  not null,
    word        boolean not null,
    centre      double,           -- is subtracted first
    factor      double,           -- multiplies then; null for a word without a weight
    label_0     varchar,          -- of a column of two categories: the one that is 0
    label_1     varchar           -- and the one that is 1
);

-- Null in models that an older metafs has recorded: these cannot predict.
alter table reference_model add column classes varchar[];     -- all labels; null for a number
alter table reference_model add column intercepts double[];   -- by output
alter table reference_model add column slope double;          -- of decision values to log-odds
alter table reference_model add column n_columns bigint;      -- rows above, for `metafs db check`

insert into tally values ('saved_model', 0), ('reference_column', 0);
