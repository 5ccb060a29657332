"""The graph that infinite feature selection ranks by: its strongest edges, and centralities."""

from sklearn.datasets import load_wine
from sklearn.preprocessing import minmax_scale

from metafs_graph import compare_centralities, feature_graph

wine = load_wine()
X = minmax_scale(wine.data)  # the spread of grams and percents is not to be compared

graph = feature_graph(X, wine.feature_names, n_edges=8)
print("Strongest edges: two features that differ, at least one of them of wide spread")
for one, other, weight in sorted(graph.edges.data("weight"), key=lambda edge: -edge[2]):
    print(f"  {weight:.3f}  {one} - {other}")

print("\nFeatures by score")
for name, node in sorted(graph.nodes.items(), key=lambda item: item[1]["rank"]):
    print(f"  {node['rank']:2}  {node['score']:6.3f}  spread {node['spread']:.2f}  {name}")

print("\nHow alike the centralities of the whole graph rank the features")
for name, correlation in compare_centralities(feature_graph(X, wine.feature_names)).items():
    print(f"  {name:12} {correlation:.3f}")
