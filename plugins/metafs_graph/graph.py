"""The graph of features as a networkx graph, for inspection.

A feature is a node, with its spread, its score and its rank; the weights of edges are those of
`metafs_graph.affinity`. Scores are always those of the whole graph, even if few edges are shown.

Up to a constant, the score is the Katz centrality of the weighted graph and gives the same ranking;
other centralities can be compared with it.
"""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.sparse import csr_array, issparse
from scipy.stats import spearmanr
from sklearn.utils import check_array

from metafs.data.matrix import dense
from metafs.data.parameters import check_at_least
from metafs.data.typing import Array
from metafs.errors import UsageError
from metafs.plugin.ranking import ranking
from metafs_graph.affinity import Affinity
from metafs_graph.correlations import TILE
from metafs_graph.inffs import ALPHA, inffs_scores

if TYPE_CHECKING:
    import networkx as nx  # takes as long to import as the rest of the package


def feature_graph(
    X: Any,
    feature_names: Sequence[str] | None = None,
    *,
    alpha: float = ALPHA,
    decay: float = 0.9,
    n_edges: int | None = None,
    n_jobs: int | None = None,
) -> "nx.Graph":
    """Return the graph that `inffs` ranks the features of X by.

    Parameters
    ----------
    X : array-like, sparse matrix or DataFrame of shape (n_samples, n_features)
        The table.
    feature_names : sequence of str, default=None
        Names of the nodes; None takes those of a data frame, or x0, x1, ...
    alpha, decay, n_jobs : optional
        As in `metafs_graph.inffs.InfFS`.
    n_edges : int, default=None
        Show only the strongest edges between two features, this many; None is every edge,
        that of a feature to itself included.

    Returns
    -------
    networkx.Graph
        Nodes have ``spread``, ``score`` and ``rank``, edges have ``weight``, and the graph has
        ``alpha``, ``decay`` and ``spectral_radius``. Constant features are no nodes.

    Examples
    --------
    >>> X = np.array([[1, 2, 9], [2, 4, 3], [3, 6, 5], [4, 8, 8], [5, 10, 1]])
    >>> graph = feature_graph(X, ["a", "b", "c"], n_edges=2)
    >>> [(one, other, round(weight, 2)) for one, other, weight in graph.edges.data("weight")]
    [('a', 'c', 0.52), ('b', 'c', 0.52)]
    >>> graph.nodes["c"]["rank"]
    1
    """
    if n_edges is not None:
        check_at_least("n_edges", n_edges)
    names = _names(X, feature_names)
    X = check_array(X, accept_sparse="csr", dtype=np.float64, input_name="X")
    X = dense(csr_array(X) if issparse(X) else X, "feature_graph")
    if len(names) != X.shape[1]:
        raise UsageError(f"there are {len(names)} feature names for {X.shape[1]} features.")
    if len(set(names)) < len(names):
        raise UsageError("two features have the same name: give each node a name of its own.")
    affinity = Affinity(X, n_jobs=n_jobs)
    scores, radius = inffs_scores(affinity, alpha, decay=decay)
    ranks = ranking(scores, first=affinity.is_node)
    import networkx as nx

    graph = nx.Graph(alpha=alpha, decay=decay, spectral_radius=radius)
    columns = np.flatnonzero(affinity.is_node)
    for column, spread in zip(columns.tolist(), affinity.spread.tolist(), strict=True):
        graph.add_node(
            names[column], spread=spread, score=float(scores[column]), rank=int(ranks[column])
        )
    one, other, weight = _edges(affinity, alpha, n_edges)
    nodes = [names[column] for column in columns.tolist()]
    graph.add_weighted_edges_from(
        (nodes[i], nodes[j], a)
        for i, j, a in zip(one.tolist(), other.tolist(), weight.tolist(), strict=True)
    )
    return graph


def compare_centralities(graph: "nx.Graph") -> dict[str, float]:
    """Return the rank correlation of the scores of a feature graph with other centralities.

    Spearman's correlation of the scores with each centrality, over the largest connected part
    of the graph, which must have three features or more. Strength is the sum of the weights at
    a feature, its edge to itself counted once.

    Examples
    --------
    >>> X = np.random.default_rng(0).normal(size=(30, 6)) * [1, 2, 3, 4, 5, 6]
    >>> {name: round(r, 2) for name, r in compare_centralities(feature_graph(X)).items()}
    {'katz': 1.0, 'eigenvector': 0.94, 'strength': 1.0, 'pagerank': 1.0}
    """
    import networkx as nx

    part = graph.subgraph(max(nx.connected_components(graph), key=len, default=()))
    if len(part) < 3:
        raise UsageError(
            f"the largest connected part of the graph has only {len(part)} features, but "
            "centralities are compared over three or more: raise n_edges."
        )
    if not graph.graph["spectral_radius"]:
        raise UsageError("no two features of the graph differ: there is nothing to compare.")
    attenuation = graph.graph["decay"] / graph.graph["spectral_radius"]
    loops = {node: weight for node, _, weight in nx.selfloop_edges(part, data="weight")}
    centralities = {
        "katz": nx.katz_centrality_numpy(part, attenuation, weight="weight"),
        "eigenvector": nx.eigenvector_centrality_numpy(part, weight="weight"),
        "strength": {n: d - loops.get(n, 0.0) for n, d in part.degree(weight="weight")},
        "pagerank": nx.pagerank(part, weight="weight"),
    }
    scores = [score for _, score in part.nodes.data("score")]
    return {
        name: float(spearmanr(scores, [centrality[node] for node in part]).statistic)
        for name, centrality in centralities.items()
    }


def _names(X: Any, feature_names: Sequence[str] | None) -> list[str]:
    if feature_names is None:
        feature_names = getattr(X, "columns", None)
    if feature_names is None:
        return [f"x{j}" for j in range(np.shape(X)[1])]
    return [str(name) for name in feature_names]


def _edges(affinity: Affinity, alpha: float, n_edges: int | None) -> tuple[Array, Array, Array]:
    """Return both ends and the weight of every edge, or of the strongest, these first."""
    spread, n = affinity.spread, len(affinity.spread)
    index, weight, weakest = np.zeros(0, dtype=np.int64), np.zeros(0), -np.inf
    for i, j, correlation in affinity.correlations.tiles():
        larger = np.maximum.outer(spread[i : i + TILE], spread[j : j + TILE])
        tile = alpha * larger + (1 - alpha) * np.maximum(1.0 - correlation, 0.0)
        wanted = tile >= weakest
        if i == j:
            wanted &= ~np.tri(len(tile), k=-1 if n_edges is None else 0, dtype=bool)
        row, column = np.nonzero(wanted)
        index = np.concatenate([index, (row + i) * n + column + j])
        weight = np.concatenate([weight, tile[row, column]])
        if n_edges is not None and len(weight) >= n_edges:
            strongest = np.lexsort((index, -weight))[:n_edges]
            index, weight = index[strongest], weight[strongest]
            weakest = weight[-1]
    return index // max(n, 1), index % max(n, 1), weight
