-- 0004_meta_features.sql: properties of features, so that memory can judge features it never met.

-- A meta-feature belongs to a feature, not to a problem: what was told last is what is known.
create table meta_feature (
    feature_id  bigint  not null,
    name        varchar not null,   -- of the meta-feature; unique for a feature
    value       double  not null    -- an unknown one has no row
);

insert into tally values ('meta_feature', 0);
