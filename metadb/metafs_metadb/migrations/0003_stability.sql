-- 0003_stability.sql: how much a selector's answers agree when the rows change a little.

create sequence stability_id;

-- One measurement of one selector on one problem. Measuring again adds a row.
create table stability (
    stability_id    bigint    not null default nextval('stability_id'),
    problem_id      bigint    not null,
    selector        varchar   not null,
    params          json      not null,   -- of the selector, keys sorted: equal means equal
    n_resamples     bigint    not null,   -- how often it selected
    share           double    not null,   -- of the rows, that each selection saw
    bootstrap       boolean   not null,   -- whether rows were drawn with replacement
    top             bigint,               -- first features compared; null for all
    seed            bigint,
    jensen_shannon  double    not null,   -- of the rankings
    by_chance       double    not null,   -- what that index is of random rankings
    jaccard         double    not null,   -- of the sets
    kuncheva        double    not null,   -- of the sets, beyond chance
    created_at      timestamp not null,   -- UTC
    metafs_version  varchar   not null
);

insert into tally values ('stability', 0);
