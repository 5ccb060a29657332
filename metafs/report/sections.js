// The sections of the first page.
const score = (label, of) => ({ label, of, show: (row) => score3(of(row)) });
const difference = (label, of) => ({ label, of, show: (row) => difference3(of(row)) });
const HURT = 0.005; // a score that memory lowers by less is noise, as the summary of a stream says

function tiles() {
  const c = D.counts, over = mean(P.score.map((score, i) => minus(score, P.no_skill[i])));
  const facts = [
    [num(c.n_solved), c.n_solved === 1 ? "problem solved" : "problems solved"],
    [num(c.n_runs), `runs, ${num(c.n_failed_runs)} failed`],
    [num(c.n_features), "features known"],
    [num(mean(P.score)), "mean nested score"],
    [difference3(over), "mean gain over no skill"],
    [num(median(P.n_selected)), "features kept (median)"],
    [seconds(c.seconds), "spent on all runs"],
  ];
  return h("ul", { class: "tiles", "aria-label": "In short" }, facts.map(([value, text]) =>
    h("li", null, h("b", null, value), h("span", null, text))));
}

function problemSection() {
  const values = [...P.score, ...P.all_features, ...P.no_skill].filter((each) => each !== null);
  const ends = values.length ? [Math.max(-0.5, Math.min(...values)), Math.max(...values)] : [0, 1];
  const several = spaces() > 1, linear = P.all_features.some((each) => each !== null);
  const columns = [
    { label: "Problem", word: true, of: problemName, show: toProblem },
    several && { label: "Space", word: true, of: (i) => word(P.space[i]) },
    score("Score", (i) => P.score[i]),
    score("All features", (i) => P.all_features[i]),
    score("No skill", (i) => P.no_skill[i]),
    { label: "Between them", of: (i) => minus(P.score[i], P.no_skill[i]),
      show: (i) => between(i, ends) },
    { label: "Kept", of: (i) => P.n_selected[i] },
    { label: "Pipeline", word: true, of: wayOf, show: (i) => wayOf(i) ??
      h("span", { class: "failed" }, P.n_failed[i] ? "failed" : "not solved") },
    { label: "Rows", of: (i) => P.n_samples[i] },
    { label: "Columns", of: (i) => P.n_features[i] },
    { label: "Seconds", of: (i) => P.seconds[i] },
  ].filter(Boolean).map((each) => (each.word && !each.show
    ? { ...each, show: (i) => bdi(each.of(i) ?? "–") } : each));
  const found = (i) => [problemName(i), word(P.space[i]), word(P.target[i]), pipelineOf(i),
    word(P.by[i]), P.n_failed[i] ? "failed" : ""].join(" ");
  const left = D.counts.n_problems - P.name.length;
  return section("problems", "Problems",
    soft(`Score: nested${scorers()}; the selection is made anew inside each fold. ` +
      (linear ? "All features: a linear model on all columns, where it was measured (`--selector auto` " +
        "does). " : "") + "No skill: guessing. Kept: number of features." +
      (left > 0 ? ` Shown are the latest ${num(P.name.length)} of ${num(D.counts.n_problems)}.` : "")),
    legend([{ name: "score", kind: "dots", colour: "blue" },
      linear && { name: "all features", kind: "tick", colour: "orange" },
      { name: "no skill", kind: "tick", colour: "grey" }].filter(Boolean)),
    sortingTable("problem-table", "Problems", columns, P.name.map((_, i) => i), found, "problem", 0));
}

// The scorers of the problems, if there are not many.
function scorers() {
  const found = [...new Set(P.scoring)].filter((each) => each >= 0).map(word);
  return found.length && found.length < 4 ? ` ${found.join(" or ").replaceAll("_", " ")}` : "";
}

const CHECKED = ["i", "kind", "score", "cold", "kept", "coldKept", "tried", "coldTried", "seconds",
  "coldSeconds", "reached"];

function gainSection() {
  const rows = D.gains.map((row) => Object.fromEntries(CHECKED.map((name, at) => [name, row[at]])));
  const parts = [];
  if (!rows.length)
    parts.push(soft("No problem was solved both with and without memory, so there is nothing to compare. " +
      "Where a selector chooses or searches, `metafs solve` solves every tenth problem (`--check`) without " +
      "memory too; `metafs solve --transfer none` gives runs to compare with for all."));
  else parts.push(...compared(rows));
  return section("gain", "What memory gained, and where it hurt", parts, lossPart());
}

function compared(rows) {
  const sentence = (what, ours, theirs, less, unit = num) => {
    const both = rows.filter((row) => row[ours] !== null && row[theirs] !== null);
    if (!both.length) return null;
    const hurt = both.filter((row) => (less ? row[ours] > row[theirs] : row[ours] < row[theirs] - HURT));
    return `${what}: ${unit(mean(both.map((row) => row[ours])))} with memory, ` +
      `${unit(mean(both.map((row) => row[theirs])))} without (mean of ${counted(both.length, "problem")}); ` +
      (less ? `more with memory in ${hurt.length}.` : `memory hurt in ${hurt.length}, by more than ${HURT}.`);
  };
  const pair = (label, ours, theirs) => [
    { label, of: (row) => row[ours] }, { label: `${label} without`, of: (row) => row[theirs] }];
  const columns = [
    { label: "Problem", word: true, of: (row) => problemName(row.i), show: (row) => toProblem(row.i) },
    { label: "Compared", word: true, of: (row) => row.kind, show: (row) => row.kind },
    score("Score", (row) => row.score), score("Score without", (row) => row.cold),
    ...pair("Kept", "kept", "coldKept"),
    ...pair("Evaluations", "tried", "coldTried"), ...pair("Seconds", "seconds", "coldSeconds"),
    { label: "As good", of: (row) => row.reached,
      show: (row) => ({ 1: "yes", 0: "no" })[row.reached] ?? "–" },
  ];
  return [
    h("ul", null, [
      sentence("Score", "score", "cold", false, score3), sentence("Features kept", "kept", "coldKept", true),
      sentence("Evaluations", "tried", "coldTried", true),
      sentence("Seconds", "seconds", "coldSeconds", true, seconds)].filter(Boolean)
      .map((each) => h("li", null, each))),
    soft("Checked: the run searched or chose once more without memory; evaluations and seconds of a " +
      "search are counted up to the fitness that it reached without memory. Two runs: the problem was " +
      "also solved with `--transfer none`."),
    sortingTable("gain-table", "Runs with and without memory", columns, rows,
      (row) => `${problemName(row.i)} ${row.kind}`, "comparison"),
  ];
}

// Of each number of labels: the loss without memory, and with the strength that is best in the mean.
function lossPart() {
  const title = h("h3", null, "With few labels");
  if (!D.losses.length)
    return [title, soft("Not measured yet: it takes models of earlier problems of the space, and a " +
      "later problem with enough labelled rows to leave some out.")];
  const without = [], best = [];
  for (const n of [...new Set(D.losses.map((row) => row[0]))]) {
    const here = D.losses.filter((row) => row[0] === n);
    without.push(here.find((row) => row[1] === 0));
    best.push(here.filter((row) => row[1] > 0).reduce((a, b) => (b[2] < a[2] ? b : a)));
  }
  const series = [["with memory", best, "blue", false], ["without", without, "orange", true]].map(
    ([name, rows, colour, dashed]) => ({ name, kind: "line", colour, dashed, points: rows.map(
      (row) => [row[0], row[2], `${name}, ${row[0]} labels: loss ${num(row[2])}`]) }));
  const columns = [
    { label: "Labels", of: (row) => row.n }, { label: "Loss without", of: (row) => row.cold },
    { label: "Loss with", of: (row) => row.loss }, { label: "Strength", of: (row) => row.strength },
    { label: "Problems", of: (row) => row.problems }, { label: "Worse with memory in", of: (row) => row.worse }];
  return [title,
    soft("Linear models of solved problems were fitted again on few labels a class (or few rows, where the " +
      "target is a number) and tested on the other rows, without memory and with the strength that is " +
      "best on average. Loss: the mean logarithmic loss, or squared error. " + saved(without, best)),
    plot({ label: "Mean loss against number of labels, with and without memory", series,
      xLabel: "labels a class", yLabel: "mean loss", logX: true }),
    folded("In numbers", plainTable("Mean loss by number of labels", columns, best.map((row, at) =>
      ({ n: row[0], cold: without[at][2], loss: row[2], strength: row[1], problems: row[3],
        worse: row[4] }))))];
}

// How many labels without memory give the loss that memory has with the fewest.
function saved(without, best) {
  const [n, , loss] = best[0];
  if (loss >= without[0][2]) return `With ${counted(n, "label")} memory does not help.`;
  for (let at = 1; at < without.length; at += 1) {
    const [a, b] = [without[at - 1], without[at]];
    if (b[2] <= loss) {
      const share = (a[2] - loss) / (a[2] - b[2]);
      const equal = num(Math.round(a[0] * (b[0] / a[0]) ** share));
      return `With memory ${counted(n, "label")} a class are worth ${equal} without.`;
    }
  }
  return `With memory ${counted(n, "label")} a class are worth more than ${without.at(-1)[0]} without.`;
}

function leaderSection() {
  const names = ["selector", "learner", "transfer", "problems", "runs", "score", "skill", "all",
    "kept", "seconds"];
  const rows = D.leaderboard.map((row) => Object.fromEntries(names.map((name, at) => [name, row[at]])));
  const text = (label, name) => ({ label, word: true, of: (row) => row[name],
    show: (row) => bdi(row[name] ?? "none") });
  const value = (label, name) => ({ label, of: (row) => row[name] });
  const columns = [text("Selector", "selector"), text("Learner", "learner"),
    text("Transfer", "transfer"), value("Problems", "problems"), value("Runs", "runs"),
    score("Mean score", (row) => row.score),
    difference("Above no skill", (row) => row.skill),
    difference("Above all features", (row) => row.all), value("Kept", "kept"), value("Seconds a run", "seconds")];
  const tried = D.pipelines.map((row) => Object.fromEntries(["selector", "learner", "problems",
    "trials", "skill", "chosen", "seconds"].map((name, at) => [name, row[at]])));
  const tried_columns = [text("Selector", "selector"), text("Learner", "learner"),
    value("Problems", "problems"), value("Trials", "trials"), difference("Above no skill", (row) => row.skill),
    value("Chosen", "chosen"), value("Seconds in all", "seconds")];
  const found = (row) => `${row.selector} ${row.learner} ${row.transfer || ""}`;
  return section("leaderboard", "Selectors and learners",
    rows.length ? [soft("Means over all solved runs. Only pipelines that solved the same problems can be " +
      "compared; the gain over no skill is fairer than the score alone."),
    sortingTable("leader-table", "Selectors and learners", columns, rows, found, "pipeline")]
      : soft("Nothing was solved yet."),
    tried.length ? [h("h3", null, "Tried by the automatic choice"),
      sortingTable("tried-table", "Pipelines that were tried", tried_columns, tried, found, "pipeline")]
      : soft("No pipelines were tried against each other: `--selector auto` does that."));
}

function featureSection() {
  const columns = [
    { label: "Feature", word: true, of: (f) => D.features.name[f], show: toFeature },
    spaces() > 1 && { label: "Space", word: true, of: (f) => word(D.features.space[f]),
      show: (f) => bdi(word(D.features.space[f])) },
    { label: "Selected in", of: (f) => D.features.selected[f] },
    { label: "Of problems", of: (f) => D.features.had[f] },
    { label: "Share", of: (f) => D.features.selected[f] / D.features.had[f],
      show: (f) => `${Math.round((100 * D.features.selected[f]) / D.features.had[f])} %` },
    { label: "Mean quality", of: (f) => D.features.quality[f] },
  ].filter(Boolean);
  const rows = D.features.name.map((_, f) => f).filter((f) => D.features.selected[f] !== null);
  return section("features", "Features",
    heatMap(),
    rows.length ? [soft("Counted are the best runs of the problems. Mean quality, where it was selected: its " +
      "information about the target, times the learner's success." +
      (rows.length >= 400 ? " Listed are the 400 selected most often." : "")),
    sortingTable("feature-table", "Features", columns, rows,
      (f) => `${D.features.name[f]} ${word(D.features.space[f])}`, "feature")] : null);
}

const TERMS = [
  ["problem", "a table and its target"],
  ["pipeline", "a selector that ranks the features, how many are kept, and a learner trained on them"],
  ["selector", "what ranks or searches features. `auto` tries several; `infogain`, `projected` and " +
    "`importance` rank by information about the target, by what a linear model on all features " +
    "uses, and by importance in random trees; `all` keeps all"],
  ["learner", "the model trained on the kept features; `remembered` is linear and may use weights of earlier " +
    "problems"],
  ["transfer", "how memory was used: `none`, `guided` (it says what is tried first), `ranked`, `paper`"],
  ["prior", "what memory expected before the problem's own rows were looked at"],
  ["strength", "how strongly a linear model is drawn towards the weights of earlier problems; 0 is not at all"],
  ["fitness", "what a search maximises on the rows that it sees; not a score"],
  ["evaluation", "one set of features, or one pipeline on one fold, that was tried"],
  ["stability", "how far the selections from resampled rows agree; 1 is always the same"],
  ["distance", "how unlike two problems are, from 0 to 1, by what their features tell of the target"],
];

const termSection = () => section("terms", "Terms", h("dl", { class: "terms" }, TERMS.flatMap(
  ([term, text]) => [h("dt", null, term), h("dd", null, prose(text))])));
const mapSection = () => section("map", "Problems by distance", problemMap());
