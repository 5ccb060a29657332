"""Peak memory of solving one 20,000 x 20,000 CSR problem, 0.5 % filled, by the real command."""

import resource
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np
from scipy.sparse import random_array


def main() -> None:
    rng = np.random.default_rng(0)
    X = random_array((20_000, 20_000), density=0.005, format="csr", rng=rng)
    y = (X[:, [0]].toarray().ravel() + X[:, [1]].toarray().ravel() > 0).astype(int)
    y[rng.random(20_000) < 0.3] = 1
    names = np.array([f"word{j}" for j in range(20_000)])
    with tempfile.TemporaryDirectory() as folder:
        path, db = Path(folder) / "wide.npz", Path(folder) / "wide.duckdb"
        parts = {"data": X.data, "indices": X.indices, "indptr": X.indptr, "shape": X.shape}
        np.savez(path, y=y, feature_names=names, **parts)
        code = "import sys; from metafs.cli import main; sys.argv[0] = 'metafs'; main()"
        command = [sys.executable, "-c", code, "solve", str(path), "--db", str(db)]
        subprocess.run(command, check=True)
    peak = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 2**20
    print(f"peak resident memory: {peak:.2f} GB (limit 1.5 GB)")
    sys.exit(peak >= 1.5)


if __name__ == "__main__":
    main()
