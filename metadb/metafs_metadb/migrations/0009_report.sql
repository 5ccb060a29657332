-- 0009_report.sql: what was measured without memory, for people who ask whether memory pays.

alter table run add column without_memory double;  -- nested score of what is chosen without memory

-- Where a problem was searched cold as well: the cost of both to the fitness of the cold search.
-- The seconds with memory lack the phase `record`, which is in `duration_s`.
alter table run add column saving struct(
    cold_evaluations bigint, evaluations bigint, cold_seconds double, seconds double,
    reached boolean
);
