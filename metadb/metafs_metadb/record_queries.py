"""The queries of `record`: the rows of one run, and how many rows each table has.

Values are bound, as ``$name`` or as a view: ``incoming_feature`` and the like are numpy arrays that
are registered on the connection.
"""

from metafs_metadb.definitions import ELSEWHERE, FIT_OF, IS_WHOLE

# What a row adds to the stamp of the database. Hashed twice, because the last of several columns
# enters by an exclusive or: the same change of two rows would cancel out.
RUN_DIGEST = "hash(hash(run_id, problem_id, status, score, n_evaluations, started_at))"

PROBLEM_DIGEST = "hash(hash(problem_id, space, excluded))"

# Sorted rather than aggregated: DuckDB 1.5.0 cannot plan a maximum over a file without statistics.
SOLVED_BEFORE = f"""
select run_id from run
where problem_id = $problem_id and settings = $settings and {IS_WHOLE}
order by run_id desc
limit 1
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
    features_without_memory, seconds_without_memory, saving, least_score, greatest_score,
    n_learner_candidates
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
    }} end,
    $least_score, $greatest_score, $n_learner_candidates
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
    "learner_candidate",
)

# Table names cannot be bound; these are ours.
ADD_TO_TALLY = f"""
update tally set n_rows = n_rows + case table_name
    {" ".join(f"when '{table}' then ${table}" for table in TALLIED)}
    else 0
end
returning table_name, n_rows
"""

FREEZE_PROJECTION = """
insert into projection (space, distance, feature_names, created_at)
values ($space, $distance, $feature_names::varchar[], $created_at)
on conflict do nothing
returning 1
"""
