"""Every query of the MetaDB, by name. Values are always bound, as ``$name`` or as a view.

Views such as `incoming_feature` are numpy arrays registered on the connection; see
`MetaDB.record` and `SqlSearch`.
"""

from metafs_metadb.definitions import BEST_FIRST

# --- the ledger ---------------------------------------------------------------------------------

HAS_ANYTHING = """
select 1 from duckdb_tables() where database_name = current_database()
union all
select 1 from duckdb_views() where database_name = current_database() and not internal
union all
select 1 from duckdb_sequences() where database_name = current_database()
limit 1
"""

# The casts refuse a table of somebody else's that only has the same names.
LEDGER = "select number::integer, name::varchar, digest::varchar from migration order by number"

CREATE_LEDGER = """
create table if not exists migration (
    number      integer   not null,
    name        varchar   not null,
    digest      varchar   not null,   -- SHA-256 of the SQL as it was applied
    applied_at  timestamp not null    -- UTC
)
"""

RECORD_MIGRATION = """
insert into migration (number, name, digest, applied_at)
values ($number, $name, $digest, $applied_at)
"""

ELSEWHERE = -1
"""The problem_id of a neighbour that this memory has forgotten, or that stayed behind when its run
was exported."""

FORGOTTEN = "a forgotten problem"

# --- recording ----------------------------------------------------------------------------------

# What a row adds to the stamp of the database. Hashed twice, because the last of several columns
# enters by an exclusive or: the same change of two rows would cancel out.
RUN_DIGEST = "hash(hash(run_id, problem_id, status, score, n_evaluations, started_at))"
PROBLEM_DIGEST = "hash(hash(problem_id, space, excluded))"

KNOWN_PROBLEM = "select problem_id, space from problem where fingerprint = $fingerprint"

SOLVED_BEFORE = """
select max(run_id) from run
where problem_id = $problem_id and settings = $settings and status = 'solved'
"""

# For the rest of a visit in which rows are only added: there is nothing in them to optimise.
PLAN_NOTHING = "pragma disable_optimizer"

INSERT_PROBLEM = f"""
insert into problem (
    space, name, source, fingerprint, n_samples, n_features, target, created_at
)
values ($space, $name, $source, $fingerprint, $n_samples, $n_features, $target, $created_at)
returning problem_id, {PROBLEM_DIGEST}
"""

FIT_OF = "fit of "
"""How the source of a problem begins that the ``fit`` of an estimator was given."""

# A fit does not take the place of the file or stream that the same content came from.
UPDATE_PROBLEM = f"""
with
    latest as (
        select
            p.problem_id,
            case when starts_with($source, '{FIT_OF}') then p.source else $source end as source
        from problem p
        where p.problem_id = $problem_id
    )
update problem set name = $name, source = latest.source, target = $target
from latest
where problem.problem_id = latest.problem_id
  and (problem.name, problem.source, problem.target)
      is distinct from ($name, latest.source, $target)
"""

HAS_SIGNATURE = """
select 1 from signature where problem_id = $problem_id and distance = $distance limit 1
"""

INSERT_SIGNATURE = """
insert into signature (problem_id, distance, key, p)
select $problem_id, $distance, key, p from incoming_signature
"""

FEATURE_IDS = """
select i.position, f.feature_id
from incoming_feature i
join feature f on f.name = i.name and f.space = $space
"""

INSERT_FEATURES = """
insert into feature (space, name)
select $space, name from new_feature order by position
returning feature_id, name
"""

NEXT_RUN_ID = "select nextval('run_id')"

INSERT_RUN = f"""
insert into run (
    run_id, problem_id, selector, params, learner, distance, transfer, seed, status, fitness, score,
    non_nested_score, scoring, target_score, n_evaluations, n_selected, stopped, duration_s,
    prior_used, settings, error, started_at, metafs_version, n_selections, n_candidates,
    n_neighbours, pipeline, all_features, no_skill, n_trials, without_memory,
    features_without_memory, seconds_without_memory, saving
)
values (
    $run_id, $problem_id, $selector, $params, $learner, $distance, $transfer, $seed, $status,
    $fitness, $score, $non_nested_score, $scoring, $target_score, $n_evaluations, $n_selected,
    $stopped,
    {{
        'describe': $describe_s, 'recall': $recall_s, 'expect': $expect_s,
        'select': $select_s, 'learn': $learn_s, 'record': $record_s
    }},
    $prior_used, $settings, $error, $started_at, $metafs_version, $n_selections, $n_candidates,
    $n_neighbours, $pipeline, $all_features, $no_skill, $n_trials, $without_memory,
    $features_without_memory, $seconds_without_memory,
    case when $saving_reached is not null then {{
        'cold_evaluations': $saving_cold_evaluations, 'evaluations': $saving_evaluations,
        'cold_seconds': $saving_cold_seconds, 'seconds': $saving_seconds,
        'reached': $saving_reached
    }} end
)
returning {RUN_DIGEST}
"""

INSERT_SELECTION = """
insert into selection (
    run_id, feature_id, rank, q, quality, expected, selected, relevance, document_frequency, mean,
    spread, weight, from_memory
)
select
    $run_id, feature_id, rank, q, quality, expected, selected, relevance, document_frequency, mean,
    spread, weight, from_memory
from incoming_selection
"""

# Sets come as text: many lists of numbers are handed over sooner that way.
INSERT_CANDIDATE = """
insert into candidate (run_id, step, features, fitness)
select
    $run_id, unnest($step::bigint[]), unnest($features::varchar[])::bigint[],
    unnest($fitness::double[])
"""

# A neighbour may have been forgotten since it was recalled.
INSERT_NEIGHBOUR = f"""
insert into neighbour (run_id, problem_id, rank, distance, weight)
select
    $run_id, case when list_contains($known::bigint[], i.problem_id) then i.problem_id
    else {ELSEWHERE} end, i.rank, i.distance, i.weight
from (
    select
        unnest($problem_id::bigint[]) as problem_id, unnest($rank::integer[]) as rank,
        unnest($distance::double[]) as distance, unnest($weight::double[]) as weight
) i
"""

KNOWN_AMONG = """
select problem_id from problem where list_contains($problem_ids::bigint[], problem_id)
"""

INSERT_STABILITY = """
insert into stability (
    problem_id, selector, params, n_resamples, share, bootstrap, top, seed, jensen_shannon,
    by_chance, jaccard, kuncheva, created_at, metafs_version
)
values (
    $problem_id, $selector, $params, $n_resamples, $share, $bootstrap, $top, $seed,
    $jensen_shannon, $by_chance, $jaccard, $kuncheva, $created_at, $metafs_version
)
returning stability_id
"""

TALLIED = (
    "problem",
    "feature",
    "signature",
    "run",
    "selection",
    "candidate",
    "neighbour",
    "stability",
    "meta_feature",
    "reference_model",
    "weight",
    "transfer_loss",
    "row_sketch",
    "belief",
    "trial",
    "saved_model",
    "reference_column",
)

# Table names cannot be bound; these are ours.
ADD_TO_TALLY = f"""
update tally set n_rows = n_rows + case table_name
    {" ".join(f"when '{table}' then ${table}" for table in TALLIED)}
    else 0
end
returning table_name, n_rows
"""

# --- managing -----------------------------------------------------------------------------------

IN_USE = "select current_database()"

FORGET_LEDGER = "delete from migration"

COPY_LEDGER = "insert into migration by name select * from origin.migration order by number"

PROBLEMS_OF_ORIGIN = "select problem_id from origin.problem order by problem_id"

# Problems of a name that only selections without a learner were recorded for, as estimators make.
FITS_NAMED = f"""
select p.problem_id, p.fingerprint, p.space, p.n_samples
from problem p
where p.name = $name and (
    starts_with(p.source, '{FIT_OF}')
    or (
        p.source = ''
        and p.problem_id not in (select problem_id from run where learner is not null)
    )
)
order by p.problem_id
"""

SET_EXCLUDED = """
update problem set excluded = $excluded
where list_contains($problem_ids::bigint[], problem_id) and excluded <> $excluded
returning problem_id, space
"""

FORGOTTEN_NEIGHBOURS = f"""
select count(*)
from neighbour n
join run r using (run_id)
where r.problem_id = $problem_id and n.problem_id = {ELSEWHERE}
"""

# How many rows each problem has in the tables that make a memory large.
SIZES = """
with part as (
    select problem_id from signature
    union all
    select problem_id from row_sketch
    union all
    select r.problem_id
    from (
        select run_id from selection
        union all
        select run_id from candidate
        union all
        select run_id from weight
        union all
        select run_id from reference_column
        union all
        select run_id from trial
    )
    join run r using (run_id)
)
select problem_id, count(*) from part group by problem_id
"""

# --- recalling ----------------------------------------------------------------------------------

SOLVED_RUN = """
select
    r.run_id, r.problem_id, p.name, p.space, r.selector, r.learner, r.distance, r.transfer, r.seed,
    r.fitness, r.score, r.non_nested_score, r.scoring, r.n_evaluations, r.n_selected, r.stopped,
    r.prior_used, r.duration_s, r.started_at, r.pipeline, r.all_features, r.no_skill
from run r
join problem p using (problem_id)
where p.fingerprint = $fingerprint and r.settings = $settings and r.status = 'solved'
order by r.run_id desc
limit 1
"""

SELECTED_FEATURES = """
select f.name
from selection s
join feature f using (feature_id)
where s.run_id = $run_id and s.selected
order by s.rank nulls last, f.feature_id
"""

NEIGHBOURS_OF_RUN = f"""
select n.problem_id, coalesce(p.name, '{FORGOTTEN}'), n.distance, coalesce(p.fingerprint, '')
from neighbour n
left join problem p using (problem_id)
where n.run_id = $run_id
order by n.rank
"""

FIND_PROBLEM = """
select
    problem_id, space, name, source, fingerprint, n_samples, n_features, target, created_at,
    excluded
from problem
where name = $name and ($space is null or space = $space)
order by problem_id desc
limit 1
"""

DISTANCES = """
select distinct distance from signature where problem_id = $problem_id order by distance
"""

DESCRIBES = """
select exists(
    select 1 from signature join problem using (problem_id)
    where distance = $distance and space = $space
)
"""

PROBLEM_SIGNATURE = """
select key, p from signature where problem_id = $problem_id and distance = $distance order by key
"""

# Each term is rounded to a multiple of 2^-50, which makes the sum exact in whatever order it is
# taken: equal problems get equal distances, here and in `memory_index`.
NEAREST = """
with affinity as (
    select
        s.problem_id,
        sum(round_even(1125899906842624 * (
            (s.p + i.p) * log2(s.p + i.p) - s.p * log2(s.p) - i.p * log2(i.p)
        ), 0)) / 1125899906842624 as shared
    from signature s
    join incoming_signature i on i.key = s.key
    where s.distance = $distance
    group by s.problem_id
)
select
    p.problem_id,
    p.name,
    greatest(round_even(1 - a.shared / 2, 12), 0) as divergence,
    p.fingerprint
from affinity a
join recallable p using (problem_id)
where p.space = $space
  and ($exclude_fingerprint is null or p.fingerprint <> $exclude_fingerprint)
  and ($exclude_name is null or p.name <> $exclude_name)
order by divergence, p.problem_id
limit $k
"""

# The best run of each problem comes first, in the order of `best_run`, which would rank the runs of
# all problems. These are few, so sorting them is quicker than ranking them by problem.
RUNS_BEST_FIRST = f"""
select r.problem_id, r.run_id, p.source
from run r
join problem p using (problem_id)
where r.status = 'solved' and list_contains($problem_ids::bigint[], r.problem_id)
  and ($before::bigint is null or r.run_id < $before)
order by {BEST_FIRST}
"""

SELECTIONS = """
select run_id, feature_id, q, quality, selected
from selection
where run_id in (select unnest($run_ids::bigint[]))
"""

# `incoming_id` holds feature ids.
FEATURES_BY_ID = """
select feature_id, space, name
from feature
join incoming_id using (feature_id)
where feature_id between $first_id and $last_id
"""

IMPORTANT_FEATURES = """
select name, n_problems
from core_feature
where space = $space
order by share desc, name
limit $limit
"""

PROJECTION = "select feature_names from projection where space = $space and distance = $distance"

FREEZE_PROJECTION = """
insert into projection (space, distance, feature_names, created_at)
values ($space, $distance, $feature_names::varchar[], $created_at)
on conflict do nothing
returning 1
"""

# --- lists for people ---------------------------------------------------------------------------

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
