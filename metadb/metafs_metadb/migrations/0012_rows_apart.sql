-- 0012_rows_apart.sql: weights that have not learned from the rows that every problem sets apart.

-- What memory is worth is measured with them where problems share rows; null in models that an older
-- metafs has recorded, and where rows cannot be told from each other.
alter table weight add column apart float;
