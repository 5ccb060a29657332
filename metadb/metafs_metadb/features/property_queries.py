"""The queries of `properties`: meta-features, and the outcomes of features that have them.

`incoming_meta_feature` holds one row for each known value: the feature's id, the place of the
meta-feature in the list `$names` (from 1), and the value.
"""

from metafs_metadb.definitions import SCORE, relative

DELETE_CHANGED = """
delete from meta_feature m
using incoming_meta_feature i
where m.feature_id = i.feature_id and m.name = ($names::varchar[])[i.place] and m.value <> i.value
"""

INSERT_NEW = """
insert into meta_feature (feature_id, name, value)
select i.feature_id, ($names::varchar[])[i.place], i.value
from incoming_meta_feature i
anti join meta_feature m on m.feature_id = i.feature_id and m.name = ($names::varchar[])[i.place]
order by i.feature_id, i.place
"""

# How each feature with known properties did in the best runs of the latest problems.
OUTCOMES = f"""
with described as (
    select r.run_id
    from best_run r
    join problem p using (problem_id)
    where p.space = $space
      and not p.excluded
      and ($exclude_fingerprint is null or p.fingerprint <> $exclude_fingerprint)
      and ($exclude_name is null or p.name <> $exclude_name)
      and ($exclude_source is null or p.source <> $exclude_source)
    order by r.run_id desc
    limit $limit
),
best as (
    select s.run_id, max({SCORE}) as q
    from selection s
    join described using (run_id)
    group by s.run_id
)
select
    f.feature_id,
    f.name,
    count(*)                                            as n_problems,
    avg(coalesce(s.quality, 0))                         as quality,
    avg(s.selected::double)                             as selected,
    avg({relative("b.q")}) as relative
from selection s
join best b using (run_id)
join feature f using (feature_id)
where f.feature_id in (select feature_id from meta_feature)
group by f.feature_id, f.name
order by f.feature_id
"""

META_FEATURES = """
select m.feature_id, m.name, m.value
from meta_feature m
join feature f using (feature_id)
where f.space = $space
"""

DESCRIBED_SPACES = """
select distinct f.space
from meta_feature m
join feature f using (feature_id)
order by f.space
"""
