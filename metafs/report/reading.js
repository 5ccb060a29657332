// What the data of a page mean (contents.py writes them).
let D = null; // the data
let P = null; // the columns of the problems
let selectedIn = []; // of each feature: [problem, place in its list]

function read(data) {
  D = data;
  P = data.problems;
  selectedIn = data.features.name.map(() => []);
  P.selected.forEach((list, i) => list.forEach((each, at) => selectedIn[each[0]].push([i, at])));
}

const word = (at) => (at < 0 ? null : D.words[at]);
const problemName = (i) => (i < P.name.length ? P.name[i] : D.others[i - P.name.length]);
const problemLink = (i) => (i < P.name.length ? `#/problem/${P.problem_id[i]}` : null);
const featureLink = (f) => `#/feature/${D.features.feature_id[f]}`;
const solved = (i) => P.n_selected[i] !== null;
const isAuto = (i) => word(P.by[i]) !== word(P.selector[i]);
const spaces = () => new Set(P.space).size;

function wayOf(i) {
  if (!solved(i)) return null;
  return [word(P.selector[i]), word(P.learner[i])].filter((each) => each !== null).join(", ");
}

function pipelineOf(i) {
  if (!solved(i)) return null;
  const parts = [word(P.selector[i]), P.n_selected[i], word(P.learner[i])];
  return parts.filter((each) => each !== null).join(", ");
}

// The same with its parts named: the selector that ranked, how many were kept, and the learner.
function pipelineInWords(i) {
  const learner = word(P.learner[i]);
  return `${word(P.selector[i])} keeps ${counted(P.n_selected[i], "feature")}` +
    (learner === null ? "" : `, learner ${learner}`);
}

function mean(values) {
  const known = values.filter((each) => each !== null && each !== undefined);
  return known.length ? known.reduce((sum, each) => sum + each, 0) / known.length : null;
}

function median(values) {
  const known = values.filter((each) => each !== null).sort((a, b) => a - b);
  return known.length ? known[Math.floor(known.length / 2)] : null;
}

const minus = (a, b) => (a === null || b === null ? null : a - b);
