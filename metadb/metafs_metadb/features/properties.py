"""Meta-features, and the outcomes of features that have them."""

from collections.abc import Mapping

import duckdb
import numpy as np
from numpy.typing import ArrayLike, NDArray

from metafs_metadb.features import property_queries as queries
from metafs_metadb.rows import FeatureExperience


def write(
    con: duckdb.DuckDBPyConnection,
    feature_ids: NDArray[np.int64],
    meta_features: Mapping[str, ArrayLike],
    tally: dict[str, int],
) -> None:
    """Write the meta-features of features, each a name and one value per feature.

    A stored value that has changed is replaced; NaN changes nothing. The caller holds
    the transaction.
    """
    if not meta_features or not len(feature_ids):
        return
    values = np.column_stack([np.asarray(each, np.float64) for each in meta_features.values()])
    if values.shape != (len(feature_ids), len(meta_features)):
        raise ValueError("every meta-feature has one value for each feature")
    rows, columns = np.nonzero(np.isfinite(values))
    con.register(
        "incoming_meta_feature",
        {
            "feature_id": feature_ids[rows],
            "place": columns.astype(np.int64) + 1,
            "value": values[rows, columns],
        },
    )
    names = {"names": list(meta_features)}
    (n_deleted,) = con.execute(queries.DELETE_CHANGED, names).fetchall()[0]
    (n_inserted,) = con.execute(queries.INSERT_NEW, names).fetchall()[0]
    tally["meta_feature"] += int(n_inserted) - int(n_deleted)


def read(con: duckdb.DuckDBPyConnection, which: Mapping[str, object]) -> FeatureExperience:
    """Return the outcomes of features with meta-features in the problems that `which` selects."""
    outcomes = con.execute(queries.OUTCOMES, dict(which)).fetchnumpy()
    stored = con.execute(queries.META_FEATURES, {"space": which["space"]}).fetchnumpy()
    ids = np.asarray(outcomes["feature_id"], np.int64)
    owners, of_name = np.asarray(stored["feature_id"], np.int64), np.asarray(stored["name"], object)
    known = np.isin(owners, ids)
    names = sorted(set(of_name[known].tolist()))
    meta_features = np.full((len(ids), len(names)), np.nan)
    place = {name: column for column, name in enumerate(names)}
    columns = np.array([place[name] for name in of_name[known].tolist()], np.int64)
    rows = np.searchsorted(ids, owners[known])
    meta_features[rows, columns] = np.asarray(stored["value"], np.float64)[known]
    return FeatureExperience(
        names=tuple(outcomes["name"]),
        n_problems=np.asarray(outcomes["n_problems"], np.int64),
        quality=np.asarray(outcomes["quality"], np.float64),
        selected=np.asarray(outcomes["selected"], np.float64),
        relative=np.asarray(outcomes["relative"], np.float64),
        meta_feature_names=tuple(names),
        meta_features=meta_features,
    )
