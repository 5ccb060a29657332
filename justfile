# `just` runs what has to pass; `just --list` shows the rest.

export PATH := justfile_directory() / ".venv/bin" + ":" + env("PATH")

# tests, then linters
default: test lint

# run the tests, or some: just test tests/data -x
test *arguments="-n auto":
    pytest {{arguments}}

# every check that reads the code without running it
lint:
    .ci/lint

# reformat, and repair what ruff can repair
format:
    ruff check --fix .
    ruff format .

# write the generated pages and what the README's commands print again
docs:
    python docs/generate.py
    python docs/readme.py

# run one benchmark: just bench relieff
bench name *arguments:
    python benchmarks/{{name}}.py {{arguments}}

# every Python that is here, newest and lowest dependencies (needs nox and uv)
matrix *arguments:
    nox {{arguments}}
