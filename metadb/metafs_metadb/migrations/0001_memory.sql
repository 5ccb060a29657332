-- 0001_memory.sql: what was solved, what it looked like, what was tried and what it earned.
--
-- No table that grows with the memory carries a key that DuckDB enforces. An enforced key is an
-- index that every insert probes, and it makes each checkpoint rewrite the table's last row group:
-- with `fingerprint` enforced, recording took 130 ms at 100,000 problems, without it a third.
-- Nothing but this package inserts here, one writer at a time, in one transaction with the rows
-- referred to; `metafs db check` verifies keys and references instead.

create sequence problem_id;
create sequence feature_id;
create sequence run_id;

-- A table and its target. Equal content is one problem, whatever its file was called.
create table problem (
    problem_id   bigint    not null default nextval('problem_id'),
    space        varchar   not null,   -- pool of features in which equal names mean the same
    name         varchar   not null,   -- as last seen; two problems may share a name
    source       varchar   not null,
    fingerprint  varchar   not null,   -- unique: `record` looks before it inserts
    n_samples    bigint    not null,
    n_features   bigint    not null,
    target       varchar   not null,
    created_at   timestamp not null,   -- UTC
    excluded     boolean   not null default false   -- remembered, but nobody's neighbour
);

-- One vocabulary for a space, so that selections are small numbers.
create table feature (
    feature_id  bigint  not null default nextval('feature_id'),
    space       varchar not null,
    name        varchar not null    -- unique in its space
);

-- The problem as a sparse distribution: the inverted index that neighbour search joins on.
create table signature (
    problem_id  bigint  not null,
    distance    varchar not null,   -- the plugin's public name
    key         ubigint not null,
    p           double  not null
);

-- One selection on one problem, solved or failed.
create table run (
    run_id            bigint    not null default nextval('run_id'),
    problem_id        bigint    not null,
    selector          varchar   not null,
    params            json      not null,   -- of the selector, keys sorted: equal means equal
    learner           varchar,
    distance          varchar,
    transfer          varchar   not null,
    seed              bigint,
    status            varchar   not null check (status in ('solved', 'failed')),
    fitness           double,              -- what the search maximised
    score             double,              -- honest: the selection was repeated inside the folds
    optimistic_score  double,              -- selection outside the folds: it has seen the test rows
    scoring           varchar,             -- scorer of both scores
    target_score      double,              -- the search was allowed to stop here
    n_evaluations     bigint,
    n_selected        bigint,
    stopped           varchar,             -- why the search stopped
    duration_s        struct(
        "describe" double, recall double, expect double,
        "select" double, learn double, record double
    ),
    prior_used        varchar,             -- the transfer, if the selector was given a prior
    settings          varchar,             -- digest of all that decides the answer
    error             varchar,
    started_at        timestamp not null,  -- UTC
    metafs_version    varchar   not null,
    n_selections      bigint    not null,  -- rows this run wrote below, for `metafs db check`
    n_candidates      bigint    not null,
    n_neighbours      bigint    not null
);

-- Every feature the selector scored.
create table selection (
    run_id      bigint  not null,
    feature_id  bigint  not null,
    rank        integer,
    q           double,             -- as the selector scored it
    quality     double,             -- as the learner earned it
    expected    double,             -- as memory expected it (P_D under 'paper'); null without a prior
    selected    boolean not null
);

-- Sets that were tried: every start and the best of every round, by number of evaluation.
create table candidate (
    run_id    bigint   not null,
    step      bigint   not null,
    features  bigint[] not null,
    fitness   double
);

-- Whom the run asked, nearest first.
create table neighbour (
    run_id      bigint  not null,
    problem_id  bigint  not null,   -- the neighbour's
    rank        integer not null,
    distance    double  not null,
    weight      double              -- w(d) = 1 / (0.001 + d^2), not yet divided by its sum
);

-- Features on which a projected distance looks, frozen: a list that grew with the memory would
-- make signatures of different days incomparable.
create table projection (
    space          varchar   not null,
    distance       varchar   not null,
    feature_names  varchar[] not null,
    created_at     timestamp not null,
    primary key (space, distance)
);

-- How many rows each table must have. A damaged write-ahead log is dropped without a word, and
-- with it whole runs; this row is then older than the table or younger, and `db check` says so.
create table tally (
    table_name  varchar not null,
    n_rows      bigint  not null
);

insert into tally values
    ('problem', 0), ('feature', 0), ('signature', 0), ('run', 0),
    ('selection', 0), ('candidate', 0), ('neighbour', 0);
