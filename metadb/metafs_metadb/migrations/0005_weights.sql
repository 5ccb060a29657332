-- 0005_weights.sql: what the models of solved problems learned, and what that is worth to others.
--
-- Four-byte floats suffice for what was estimated from a few hundred rows, and halve the file.

-- The linear model of a problem on all its columns, fitted without memory. Equal content gives an
-- equal model, so the first solved run of a problem has one, and later runs have none.
create table reference_model (
    run_id          bigint    not null,
    problem_id      bigint    not null,
    part            integer   not null,   -- of the basis of its space, by its source
    preparation     varchar   not null,   -- how columns were made comparable
    n_labels        bigint    not null,   -- labelled rows
    regularisation  double,
    outputs         varchar[] not null,   -- the class each direction speaks for; null for a number
    rest_norms      double[]  not null,   -- norm of the weights that are not kept, by output
    n_weights       bigint    not null,   -- rows this run wrote below, for `metafs db check`
    n_transfers     bigint    not null
);

-- The largest weights of each output.
create table weight (
    run_id      bigint not null,
    feature_id  bigint not null,
    output      varchar,           -- class, or null for a number
    weight      float  not null    -- per standard deviation; for words, per tf-idf of a unit row
);

-- What memory would have given this problem with few labels, on rows that it had not seen.
create table transfer_loss (
    run_id    bigint  not null,
    n_labels  integer not null,   -- a class, or rows where the target is a number
    strength  float   not null,   -- of memory; 0 is without
    loss      float   not null    -- does not change with the scale of decision values
);

-- The smallest hashes of a problem's rows: two problems that share rows share some of them.
create table row_sketch (
    problem_id  bigint  not null,
    hash        ubigint not null
);

-- How strongly a run believed memory, and which remembered directions carried how much of it.
create table belief (
    run_id        bigint  not null,
    strength      double  not null,   -- 0: not at all
    gain          double  not null,   -- expected fall of the loss against no memory
    reason        varchar not null,
    problem_ids   bigint[] not null,  -- of each direction; 0 for one of the basis of the space
    outputs       varchar[] not null, -- of each direction
    coefficients  float[] not null    -- of each direction, output by output of this problem
);

-- The main directions of all problems of a space, in parts by a checksum of their source, so that a
-- part can be left out. Every eighth run one of them is updated; `upto` is the last run it holds.
create table basis (
    space        varchar  not null,
    part         integer  not null,
    n_runs       bigint   not null,
    upto         bigint   not null,
    feature_ids  blob     not null,   -- int64, ascending
    weights      blob     not null    -- float32, direction by direction
);

-- What each column tells by itself, and how it is scaled, whatever the selector made of it.
alter table selection add column relevance float;           -- share of the target's information
alter table selection add column document_frequency float;  -- share of rows that are not zero
alter table selection add column mean float;
alter table selection add column spread float;              -- standard deviation
alter table selection add column weight float;              -- of the model with memory
alter table selection add column from_memory float;         -- the part of it that memory supplied

-- Signatures of jsd-features no longer hold the names of classes; those that do keep another name.
update signature set distance = 'jsd-labelled' where distance = 'jsd-features';

insert into tally values
    ('reference_model', 0), ('weight', 0), ('transfer_loss', 0), ('row_sketch', 0), ('belief', 0);
