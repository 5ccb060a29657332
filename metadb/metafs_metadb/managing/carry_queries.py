"""The queries of `carry`: rows of the memory attached as `origin`, with the ids they get here.

`incoming_problem`, `incoming_run` and `incoming_feature` hold `old_id` and `new_id`; the first also
`is_new`, and holds the problems that both memories know besides those that are carried.
"""

from metafs_metadb.definitions import ELSEWHERE, INTERRUPTED

# --- what is to be carried ------------------------------------------------------------------------

# `incoming_choice` holds the problems that may be carried; null for `known_id` is a new one.
PROBLEMS = """
select
    o.problem_id as old_id, p.problem_id as known_id, c.problem_id is not null as chosen,
    o.name, o.space, p.space as known_space
from origin.problem o
left join problem p using (fingerprint)
left join incoming_choice c on c.problem_id = o.problem_id
where c.problem_id is not null or p.problem_id is not null
order by o.problem_id
"""

# A run that is here already stays: a solved one with equal settings, or the very same.
RUNS = f"""
select r.run_id, r.problem_id
from origin.run r
join incoming_problem i on i.old_id = r.problem_id
where i.chosen and not exists (
    select 1 from run t
    where t.problem_id = i.new_id and t.status = r.status and (
        (t.status = 'solved' and t.stopped is distinct from '{INTERRUPTED}'
            and t.settings = r.settings)
        or (t.settings is not distinct from r.settings
            and t.started_at = r.started_at and t.selector = r.selector and t.params = r.params
            and t.transfer = r.transfer and t.learner is not distinct from r.learner
            and t.seed is not distinct from r.seed)
    )
)
order by r.run_id
"""

FEATURES = """
select o.feature_id as old_id, f.feature_id as known_id
from origin.feature o
left join feature f on f.space = o.space and f.name = o.name
where o.feature_id in (
    select feature_id from origin.selection where run_id in (select old_id from incoming_run)
)
order by o.feature_id
"""

LAST_RUN = "select coalesce(max(run_id), 0) from run"

ROWS_OF_ORIGIN = """
select table_name, n_rows from origin.tally
union all
select 'projection', count(*) from origin.projection
"""

LAST_IDS = """
select sequence_name, last_value
from duckdb_sequences()
where database_name = 'origin' and last_value is not null
"""

# Names of sequences cannot be bound; these are ours. No rows, no number.
NEXT_IDS = {
    name: f"select coalesce(max(nextval('{name}')), 0) from range($n)"
    for name in ("problem_id", "feature_id", "run_id")
}

# --- carrying -------------------------------------------------------------------------------------

_OF_PROBLEM = "join incoming_problem p on p.old_id = o.problem_id"
_OF_RUN = "join incoming_run r on r.old_id = o.run_id"
_OF_FEATURE = "join incoming_feature f on f.old_id = o.feature_id"

PROBLEM = f"""
insert into problem by name
select o.* replace (p.new_id as problem_id)
from origin.problem o {_OF_PROBLEM}
where p.is_new
order by p.new_id
"""

FEATURE = f"""
insert into feature by name
select o.* replace (f.new_id as feature_id)
from origin.feature o {_OF_FEATURE}
where f.is_new
order by f.new_id
"""

RUN = f"""
insert into run by name
select o.* replace (r.new_id as run_id, p.new_id as problem_id)
from origin.run o {_OF_RUN} {_OF_PROBLEM}
order by r.new_id
"""

SELECTION = f"""
insert into selection by name
select o.* replace (r.new_id as run_id, f.new_id as feature_id)
from origin.selection o {_OF_RUN} {_OF_FEATURE}
"""

# Where every feature keeps its id, the sets are as they were.
CANDIDATE_AS_IT_IS = f"""
insert into candidate by name
select o.* replace (r.new_id as run_id)
from origin.candidate o {_OF_RUN}
"""

CANDIDATE = f"""
insert into candidate by name
with
    tried as (
        select r.new_id as run_id, o.step, o.features, o.fitness, row_number() over () as place
        from origin.candidate o {_OF_RUN}
    ),
    member as (select place, unnest(features) as feature_id from tried),
    renamed as (
        select m.place, list(f.new_id order by f.new_id) as features
        from member m
        join incoming_feature f on f.old_id = m.feature_id
        group by m.place
    )
select t.run_id, t.step, coalesce(n.features, []::bigint[]) as features, t.fitness
from tried t
left join renamed n using (place)
order by t.place
"""

NEIGHBOUR = f"""
insert into neighbour by name
select o.* replace (r.new_id as run_id, coalesce(p.new_id, {ELSEWHERE}) as problem_id)
from origin.neighbour o {_OF_RUN}
left join incoming_problem p on p.old_id = o.problem_id
"""

TRIAL = f"""
insert into trial by name
select o.* replace (r.new_id as run_id) from origin.trial o {_OF_RUN}
"""

LEARNER_CANDIDATE = f"""
insert into learner_candidate by name
select o.* replace (r.new_id as run_id) from origin.learner_candidate o {_OF_RUN}
"""

# A direction of a problem that stays behind also loses the name of its class; 0 is the basis.
BELIEF = f"""
insert into belief by name
with
    direction as (
        select
            o.run_id, unnest(o.problem_ids) as problem_id, unnest(o.outputs) as output,
            generate_subscripts(o.problem_ids, 1) as place
        from origin.belief o {_OF_RUN}
    ),
    renamed as (
        select
            d.run_id,
            list(
                case when d.problem_id = 0 then 0 else coalesce(p.new_id, {ELSEWHERE}) end
                order by d.place
            ) as problem_ids,
            list(
                case when d.problem_id = 0 or p.new_id is not null then d.output end
                order by d.place
            ) as outputs
        from direction d
        left join incoming_problem p on p.old_id = d.problem_id
        group by d.run_id
    )
select o.* replace (
    r.new_id as run_id,
    coalesce(n.problem_ids, []::bigint[]) as problem_ids,
    coalesce(n.outputs, []::varchar[]) as outputs
)
from origin.belief o {_OF_RUN}
left join renamed n on n.run_id = o.run_id
"""

META_FEATURES_CHANGED = f"""
delete from meta_feature m
using (
    select f.new_id, o.name from origin.meta_feature o {_OF_FEATURE}
) latest
where m.feature_id = latest.new_id and m.name = latest.name
"""

META_FEATURE = f"""
insert into meta_feature by name
select o.* replace (f.new_id as feature_id)
from origin.meta_feature o {_OF_FEATURE}
"""

# Problems that have no model here, with the run that brings one.
MODELS = f"""
select o.run_id as old_id, r.new_id
from origin.reference_model o {_OF_RUN} {_OF_PROBLEM}
where p.new_id not in (select problem_id from reference_model)
"""

# `incoming_model` holds these runs.
REFERENCE_MODEL = f"""
insert into reference_model by name
select o.* replace (m.new_id as run_id, p.new_id as problem_id)
from origin.reference_model o {_OF_PROBLEM}
join incoming_model m on m.old_id = o.run_id
order by m.new_id
"""

WEIGHT = f"""
insert into weight by name
select o.* replace (m.new_id as run_id, f.new_id as feature_id)
from origin.weight o {_OF_FEATURE}
join incoming_model m on m.old_id = o.run_id
"""

TRANSFER_LOSS = """
insert into transfer_loss by name
select o.* replace (m.new_id as run_id)
from origin.transfer_loss o
join incoming_model m on m.old_id = o.run_id
"""

REFERENCE_COLUMN = f"""
insert into reference_column by name
select o.* replace (m.new_id as run_id, f.new_id as feature_id)
from origin.reference_column o {_OF_FEATURE}
join incoming_model m on m.old_id = o.run_id
"""

SAVED_MODEL = f"""
insert into saved_model by name
select o.* replace (p.new_id as problem_id)
from origin.saved_model o {_OF_PROBLEM}
where p.is_new
"""

ROW_SKETCH = f"""
insert into row_sketch by name
select o.* replace (p.new_id as problem_id)
from origin.row_sketch o {_OF_PROBLEM}
where p.is_new
"""

# Signatures under different lists of features cannot be compared, so such are left behind.
SIGNATURE = f"""
insert into signature by name
select o.* replace (p.new_id as problem_id)
from origin.signature o {_OF_PROBLEM}
join origin.problem q on q.problem_id = o.problem_id
where p.has_news
  and not exists (
      select 1 from signature s where s.problem_id = p.new_id and s.distance = o.distance
  )
  and not exists (
      select 1
      from origin.projection a
      join projection b on b.space = a.space and b.distance = a.distance
      where a.space = q.space and a.distance = o.distance and a.feature_names <> b.feature_names
  )
"""

PROJECTION = """
insert into projection by name select * from origin.projection on conflict do nothing
"""

# Without the names that no problem has which is carried.
PROJECTION_OF_SOME = """
insert into projection by name
select o.* replace (
    list_filter(o.feature_names, lambda name: list_contains(n.names, name)) as feature_names
)
from origin.projection o
join (
    select a.space, list(a.name) as names
    from origin.feature a
    join incoming_feature f on f.old_id = a.feature_id
    group by a.space
) n using (space)
where list_has_any(o.feature_names, n.names)
on conflict do nothing
"""

STABILITY = f"""
insert into stability by name
select p.new_id as problem_id, o.* exclude (problem_id, stability_id)
from origin.stability o {_OF_PROBLEM}
where p.chosen and not exists (
    select 1 from stability t
    where t.problem_id = p.new_id and t.selector = o.selector and t.params = o.params
      and t.created_at = o.created_at and t.seed is not distinct from o.seed
)
order by o.stability_id
"""
