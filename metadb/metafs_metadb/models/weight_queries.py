"""The queries of `weights` and `basis`: what models learned, and what that was worth."""

HAS_REFERENCE = "select 1 from reference_model where problem_id = $problem_id limit 1"

LACKS_REFERENCE = """
select count(*) = 0
from reference_model m
join problem p using (problem_id)
where p.fingerprint = $fingerprint
"""

INSERT_REFERENCE = """
insert into reference_model (
    run_id, problem_id, part, preparation, n_labels, regularisation, outputs, rest_norms, n_weights,
    n_transfers, classes, intercepts, slope, n_columns
)
values (
    $run_id, $problem_id, $part, $preparation, $n_labels, $regularisation, $outputs::varchar[],
    $rest_norms::double[], $n_weights, $n_transfers, $classes::varchar[], $intercepts::double[],
    $slope, $n_columns
)
"""

INSERT_WEIGHTS = """
insert into weight (run_id, feature_id, output, weight, apart)
select $run_id, feature_id, ($outputs::varchar[])[output], weight, nullif(apart, 'nan')
from incoming_weight
"""

INSERT_TRANSFERS = """
insert into transfer_loss (run_id, n_labels, strength, loss)
select
    $run_id, unnest($n_labels::integer[]), unnest($strength::float[]), unnest($loss::float[])
"""

INSERT_SKETCH = """
insert into row_sketch (problem_id, hash) select $problem_id, hash from incoming_hash
"""

INSERT_BELIEF = """
insert into belief (run_id, strength, gain, reason, problem_ids, outputs, coefficients)
values (
    $run_id, $strength, $gain, $reason, $problem_ids::bigint[], $outputs::varchar[],
    $coefficients::float[]
)
"""

# --- recalling ----------------------------------------------------------------------------------

REFERENCES = """
select m.problem_id, m.run_id, p.source, p.n_samples, m.preparation, m.n_labels, m.outputs
from reference_model m
join problem p using (problem_id)
where list_contains($problem_ids::bigint[], m.problem_id)
"""

# `incoming_run` holds the runs asked for.
WEIGHTS = """
select run_id, feature_id, output, weight, apart
from weight
semi join incoming_run using (run_id)
where run_id between $first_id and $last_id
"""

SCALES = """
select run_id, feature_id, relevance, document_frequency, mean, spread
from selection
semi join incoming_run using (run_id)
where run_id between $first_id and $last_id
"""

TRANSFERS = """
select run_id, n_labels, strength, loss
from transfer_loss
semi join incoming_run using (run_id)
where run_id between $first_id and $last_id
"""

# `incoming_hash` holds the hashes of a problem's rows.
SHARING = """
select distinct s.problem_id, p.source
from row_sketch s
join problem p using (problem_id)
where s.hash in (select hash from incoming_hash) and p.space = $space and not p.excluded
"""

BELIEF = """
select strength, gain, reason, problem_ids, outputs, coefficients from belief where run_id = $run_id
"""

PROBLEM_NAMES = """
select problem_id, name from problem where list_contains($problem_ids::bigint[], problem_id)
"""

# --- the basis ----------------------------------------------------------------------------------

PLAN = "pragma enable_optimizer"

BASIS = """
select part, n_runs, upto, feature_ids, weights from basis
where space = $space and ($part::integer is null or part = $part)
order by part
"""

COUNT_MODELS = """
select count(*) from reference_model
where problem_id in (select problem_id from problem where space = $space and not excluded)
"""

MODELS = """
select run_id from reference_model
where problem_id in (select problem_id from problem where space = $space and not excluded)
order by run_id
"""

# The runs that a part does not hold yet, the latest first.
BEYOND_BASIS = """
select m.run_id
from reference_model m
join problem p using (problem_id)
where m.run_id > $since and m.run_id <= $upto and m.part = $part
  and p.space = $space and not p.excluded
order by m.run_id desc
limit $most
"""

DELETE_BASIS = "delete from basis where space = $space"

DELETE_BASIS_PART = "delete from basis where space = $space and part = $part"

INSERT_BASIS_PART = """
insert into basis (space, part, n_runs, upto, feature_ids, weights)
values ($space, $part, $n_runs, $upto, $feature_ids, $weights)
"""
