// The page of one problem, and that of one feature.

function facts(rows) {
  return h("dl", { class: "facts" }, rows.filter((row) => row[1] !== null && row[1] !== undefined)
    .flatMap(([name, value]) => [h("dt", null, name), h("dd", null, value)]));
}

function onward(at, n, linkTo, name) {
  const step = (to, text) => (to >= 0 && to < n
    ? h("a", { href: linkTo(to) }, `${text}: `, bdi(name(to))) : null);
  return h("nav", { class: "between", "aria-label": "Onward" }, h("a", { href: "#/" }, "All problems"),
    step(at - 1, "Before"), step(at + 1, "After"));
}

function problemPage(i) {
  const head = [onward(i, P.name.length, problemLink, problemName),
    h("h2", { id: "problem", tabindex: "-1" }, bdi(problemName(i)))];
  const known = facts([
    ["Space", bdi(word(P.space[i]))], ["Target", bdi(word(P.target[i]))],
    ["Table", `${counted(P.n_samples[i], "row")}, ${counted(P.n_features[i], "column")}`],
    ["Pipeline", solved(i) ? bdi(pipelineInWords(i) + (isAuto(i) ? ` (chosen by ${word(P.by[i])})` : "")) : null],
    ["Transfer", solved(i) ? `${word(P.transfer[i])}${P.prior[i] ? ", with a prior from memory" : ", without a prior"}` : null],
    ["Scorer", P.scoring[i] < 0 ? null : word(P.scoring[i])],
    ["Fitness", P.fitness[i] === null ? null : num(P.fitness[i])],
    ["Evaluations", P.n_evaluations[i] === null ? null : num(P.n_evaluations[i])],
    ["Time", P.seconds[i] === null ? null : seconds(P.seconds[i])],
    ["Runs", `${num(P.n_runs[i])}, ${num(P.n_failed[i])} failed`], ["First seen", P.made[i]],
    ["Memory", belief(i)], ["Stability", stability(i)],
    ["Last error", P.error[i] ? h("span", { class: "failed" }, bdi(P.error[i])) : null],
  ]);
  if (!solved(i)) return [...head, known, soft("The problem was not solved.")];
  const scores = bars("Scores", [["nested score", P.score[i], "blue"],
    ["without memory", P.without_memory[i], "green"],
    ["all features", P.all_features[i], "orange"], ["no skill", P.no_skill[i], "grey"]]);
  return [...head,
    h("div", { class: "pair" }, h("div", null, known),
      h("div", null, h("h3", null, "Score and baselines"),
        scores || soft("No score was measured."),
        P.all_features[i] === null ? soft("The score on all features was not measured: " +
          "`--selector auto` does that.") : null,
        h("h3", null, "Score against number of features"), curve(i))),
    h("h3", null, "Selected features"), ...selectedFeatures(i),
    h("h3", null, "Nearest problems"), ...neighbours(i)];
}

function belief(i) {
  if (!P.belief[i]) return null;
  const [strength, gain, reason] = P.belief[i];
  return reason || `used with strength ${num(strength)}, expected fall of the loss ${num(gain)}`;
}

function stability(i) {
  if (!P.stability[i]) return h("span", null, prose("not measured (`metafs stability`)"));
  const [selector, n, index, chance] = P.stability[i];
  return `${selector}: the rankings of ${n} resamples agree to ${num(index)}, random ones to ${num(chance)}`;
}

function curve(i) {
  if (!P.curve[i]) return soft("Only one number of features was tried.");
  const [kind, ...flat] = P.curve[i], rows = [];
  for (let at = 0; at < flat.length; at += 3)
    rows.push({ size: flat[at], value: flat[at + 1], folds: flat[at + 2] });
  const scored = kind === "score";
  const label = scored ? "score" : "fitness of the best recorded set";
  const levels = scored ? [["all features", P.all_features[i], "orange"], ["no skill", P.no_skill[i], "grey"]]
    .filter((each) => each[1] !== null).map(([name, y, colour]) => ({ name, y, colour, dashed: true })) : [];
  const text = (row) => `${counted(row.size, "feature")}: ${label} ${num(row.value)}` +
    (scored ? ` on ${counted(row.folds, "fold")}` : "");
  const columns = [{ label: "Features", of: (row) => row.size }, { label, of: (row) => row.value },
    scored && { label: "Folds", of: (row) => row.folds }].filter(Boolean);
  return h("div", null,
    plot({ label: `${label} against number of features; the numbers are in the table below`,
      xLabel: "number of features", yLabel: label, logX: rows.at(-1).size > 8 * rows[0].size,
      series: [{ name: scored ? "mean score of the chosen ranking and learner" : label, kind: "line",
        colour: "blue", points: rows.map((row) => [row.size, row.value, text(row)]) }], levels }),
    folded("In numbers", plainTable("Score against number of features", columns, rows)));
}

function selectedFeatures(i) {
  const rows = P.selected[i].map(([f, weight, fromMemory, towards, carried, ...sources], at) =>
    ({ at, f, weight, fromMemory, towards, carried, sources }));
  if (!rows.length) return [soft("No feature was kept.")];
  const most = Math.max(...rows.map((row) => Math.abs(row.weight ?? 0)));
  const classes = new Set(rows.filter((row) => row.towards >= 0).map((row) => row.towards));
  const columns = [
    { label: "Feature", word: true, of: (row) => D.features.name[row.f], show: (row) => toFeature(row.f) },
    { label: "Rank", of: (row) => row.at + 1 },
    { label: "Weight", of: (row) => row.weight, show: (row) => signed(row.weight) },
    { label: "Sign", of: (row) => row.weight, show: (row) => weightBar(row.weight, most) },
    classes.size > 1 && { label: "Class", word: true, of: (row) => word(row.towards),
      show: (row) => bdi(word(row.towards) ?? "–") },
    { label: "From memory", of: (row) => row.fromMemory, show: (row) => signed(row.fromMemory, 2) },
    { label: "Came from", word: true, of: (row) => row.sources.length,
      show: (row) => (row.sources.length ? row.sources.flatMap((each, at) =>
        [at ? ", " : "", toProblem(each)]) : "own rows") },
  ].filter(Boolean);
  const left = P.n_selected[i] - rows.length;
  const towards = classes.size === 1 ? `towards ${word([...classes][0])}` : "towards the class";
  return [soft("Weight: of a linear model on all columns, per standard deviation; positive speaks " +
    `${classes.size ? towards : "for a larger value"}. Came from: past problems whose weights memory ` +
    "supplied, else neighbours whose best run had selected the feature." +
    (left > 0 ? ` Shown are the first ${rows.length} of ${P.n_selected[i]}.` : "")),
  sortingTable(`selected-${P.problem_id[i]}`, "Selected features", columns, rows,
    (row) => D.features.name[row.f], "feature")];
}

function neighbours(i) {
  const rows = [], own = new Set(P.selected[i].map((each) => each[0]));
  for (let at = 0; at < P.near[i].length; at += 2)
    rows.push({ rank: rows.length + 1, i: P.near[i][at], distance: P.near[i][at + 1] });
  if (!rows.length) return [soft("The run used no other problem.")];
  const common = (row) => (row.i < P.name.length
    ? P.selected[row.i].filter((each) => own.has(each[0])).length : null);
  return [plainTable("Neighbours", [
    { label: "Problem", word: true, of: (row) => problemName(row.i), show: (row) => toProblem(row.i) },
    { label: "Distance", of: (row) => row.distance },
    { label: "Selected in both", of: common },
    { label: "Its score", of: (row) => P.score[row.i] ?? null,
      show: (row) => score3(P.score[row.i] ?? null) }], rows)];
}

function featurePage(f) {
  const F = D.features, line = D.cells[f];
  const rows = selectedIn[f].map(([i, at]) => ({ i, at, weight: P.selected[i][at][1],
    fromMemory: P.selected[i][at][2], towards: word(P.selected[i][at][3]) }));
  const head = [onward(f, F.name.length, featureLink, (at) => F.name[at]),
    h("h2", { id: "feature", tabindex: "-1" }, bdi(F.name[f])),
    facts([["Space", bdi(word(F.space[f]))],
      ["Selected", F.selected[f] === null ? null : `in ${F.selected[f]} of ${counted(F.had[f], "problem")} that have it`],
      ["Mean quality", F.quality[f] === null ? null : num(F.quality[f])]])];
  if (F.selected[f] > rows.length)
    head.push(soft(`Listed are ${rows.length} of these problems, in which it is among the first.`));
  const weighted = rows.filter((row) => row.weight !== null);
  const text = (row) => `${problemName(row.i)}\nweight ${signed(row.weight)}` +
    (row.towards ? ` towards ${row.towards}` : "");
  const columns = [
    { label: "Problem", word: true, of: (row) => problemName(row.i), show: (row) => toProblem(row.i) },
    { label: "Rank", of: (row) => row.at + 1 },
    { label: "Weight", of: (row) => row.weight, show: (row) => signed(row.weight) },
    rows.some((row) => row.towards) && { label: "Towards", word: true, of: (row) => row.towards,
      show: (row) => bdi(row.towards ?? "–") },
    { label: "From memory", of: (row) => row.fromMemory, show: (row) => signed(row.fromMemory, 2) },
    { label: "Score there", of: (row) => P.score[row.i], show: (row) => score3(P.score[row.i]) },
  ].filter(Boolean);
  return [...head, h("h3", null, "History"),
    h("div", { class: "pair" }, line ? history(line) : null,
    weighted.length > 1 ? plot({ label: "Weight of the feature along the stream; the numbers are in " +
      "the table below", xLabel: "problem, in the order solved", yLabel: "weight",
      xs: line ? [1, line.length] : [], levels: [
      { name: "", y: 0, colour: "grey" }], series: [{ name: "weight", kind: "dots", colour: "blue",
      points: weighted.map((row) => [row.i + 1, row.weight, text(row), problemLink(row.i)]) }] })
      : soft("There are too few weights of it for a plot.")),
    rows.length ? sortingTable(`history-${f}`, "Problems that selected the feature", columns, rows,
      (row) => problemName(row.i), "problem") : null];
}

// Share of the problems so far, of those that have the feature, in which it was selected.
function history(line) {
  const points = [];
  let had = 0, chosen = 0;
  [...line].forEach((cell, i) => {
    if (cell === ".") return;
    had += 1;
    chosen += cell === "0" ? 0 : 1;
    points.push([i + 1, (100 * chosen) / had, `${problemName(i)}\nselected in ${chosen} of ${had} so far`,
      problemLink(i)]);
  });
  const few = points.filter((_, at) => at % Math.ceil(points.length / 100) === 0 || at === points.length - 1);
  return plot({ label: "Share of problems so far that selected the feature", yLabel: "% selected so far",
    xLabel: "problem, in the order solved", xs: [1, line.length],
    series: [{ name: "share", kind: "line", colour: "green", points: few }] });
}
