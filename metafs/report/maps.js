// The two maps: features by problems, and problems by distance.
const ROW = 16; // pixels of a row of the map of features and problems

function colourOf(name) {
  return getComputedStyle(document.documentElement).getPropertyValue(name).trim();
}

function heatMap() {
  const n = P.name.length, lines = D.cells;
  if (!lines.length) return soft("No feature was selected yet, so there is nothing to map.");
  const room = byId("main").clientWidth - (window.innerWidth <= 640 ? 110 : 170);
  const wide = Math.max(2, Math.min(18, Math.floor(room / n)));
  const canvas = h("canvas", { width: n * wide, height: lines.length * ROW, role: "img",
    "aria-label": `Which of ${counted(n, "problem")} selected each of the ${lines.length} features ` +
      "selected most often; the table of features has the counts" });
  const brush = canvas.getContext("2d");
  const strong = colourOf("--blue"), missing = colourOf("--missing"), missingEdge = colourOf("--line");
  lines.forEach((line, row) => [...line].forEach((cell, i) => {
    if (cell === "0") return;
    brush.globalAlpha = cell === "." ? 1 : 0.25 + 0.75 * (Number(cell) / 9);
    brush.fillStyle = cell === "." ? missing : strong;
    brush.fillRect(i * wide, row * ROW, wide > 4 ? wide - 1 : wide, ROW - 1);
  }));
  const at = (event) => {
    const box = canvas.getBoundingClientRect();
    return [Math.floor((event.clientX - box.left) / wide), Math.floor((event.clientY - box.top) / ROW)];
  };
  canvas.addEventListener("pointermove", (event) => {
    const [i, row] = at(event);
    if (!lines[row] || i < 0 || i >= n) return tip(event, null);
    const what = { ".": "has no such feature", 0: "did not select it" }[lines[row][i]] || "selected it";
    tip(event, `${D.features.name[row]}\n${problemName(i)}: ${what}`);
  });
  canvas.addEventListener("pointerleave", (event) => tip(event, null));
  canvas.addEventListener("click", (event) => {
    const [i] = at(event);
    if (i >= 0 && i < n) location.hash = problemLink(i).slice(1);
  });
  return h("figure", { class: "figure" },
    h("ul", { class: "legend" }, [["1", "selected, among the first"], ["0.3", "selected, among the last"],
      ["0", "not selected"]]
      .map(([opacity, text]) => h("li", null, s("svg", { class: "blue", width: 14, height: 14,
        "aria-hidden": "true" }, s("rect", { class: "bar", width: 14, height: 14,
        "fill-opacity": opacity, stroke: opacity === "0" ? missingEdge : null })), text)),
      h("li", null, s("svg", { width: 14, height: 14, "aria-hidden": "true" },
        s("rect", { width: 14, height: 14, fill: missing, stroke: missingEdge })),
      "the problem has no such feature")),
    h("div", { class: "heat" },
      h("ol", { "aria-label": "Features of the map" }, lines.map((_, f) =>
        h("li", null, toFeature(f)))),
      h("div", { class: "scroll", tabindex: "0", role: "region",
        "aria-label": "Map of features and problems" }, canvas)),
    h("figcaption", null, "A row for each feature, a column for each problem in the order in which " +
      "they were solved. Point at a cell to see what it is; a click leads to the problem." +
      (n * wide > room ? " The map scrolls sideways." : "")));
}

// Names beside dots, those with the most connections first, as far as there is room for them.
const LONGEST = 24;

function names(known, x, y, radius, importance, width, height) {
  const brush = document.createElement("canvas").getContext("2d");
  brush.font = "11px system-ui, sans-serif";
  const gap = radius + 3, half = 7, taken = known.map((i) =>
    [x(i) - radius, y(i) - radius, x(i) + radius, y(i) + radius]);
  const order = known.map((_, at) => at).sort((a, b) => importance(b) - importance(a));
  return order.map((at) => {
    const i = known[at], whole = problemName(i);
    const text = whole.length > LONGEST ? `${whole.slice(0, LONGEST - 1)}…` : whole;
    const long = brush.measureText(text).width + 2;
    const boxes = [[gap, -half], [-gap - long, -half], [-long / 2, -gap - 2 * half], [-long / 2, gap]]
      .map(([dx, dy]) => [x(i) + dx, y(i) + dy, x(i) + dx + long, y(i) + dy + 2 * half]);
    const free = boxes.find((a) => a[0] >= 0 && a[1] >= 0 && a[2] <= width && a[3] <= height &&
      taken.every((b) => a[2] < b[0] || b[2] < a[0] || a[3] < b[1] || b[3] < a[1]));
    if (!free) return null;
    taken.push(free);
    return s("text", { class: "name", x: free[0].toFixed(1), y: (free[3] - 3).toFixed(1) }, text);
  });
}

function problemMap() {
  const known = P.place.map((place, i) => (place ? i : -1)).filter((i) => i >= 0);
  if (!known.length)
    return soft("No run has asked neighbours yet, so there are no distances to draw.");
  const width = Math.max(300, byId("main").clientWidth || 900);
  const height = Math.min(680, Math.round(width * (width < 500 ? 1 : 0.62)));
  const x = (i) => 14 + (P.place[i][0] / 1000) * (width - 28);
  const y = (i) => 14 + (P.place[i][1] / 1000) * (height - 28);
  const shown = new Set(known), edges = [], of = known.map(() => []), index = new Map();
  known.forEach((i, at) => index.set(i, at));
  for (const i of known)
    for (let k = 0; k < P.near[i].length; k += 2)
      if (shown.has(P.near[i][k])) {
        edges.push([i, P.near[i][k]]);
        of[index.get(i)].push(P.near[i][k]);
        of[index.get(P.near[i][k])].push(i);
      }
  const path = (pairs) => pairs.map(([a, b]) =>
    `M${x(a).toFixed(0)} ${y(a).toFixed(0)}L${x(b).toFixed(0)} ${y(b).toFixed(0)}`).join("");
  const scores = known.map((i) => P.score[i]).filter((each) => each !== null);
  const [low, high] = scores.length ? [Math.min(...scores), Math.max(...scores)] : [0, 1];
  const lit = s("path", { class: "edges near" });
  const radius = known.length > 300 ? (width < 500 ? 2.5 : 4) : width < 500 && known.length > 80 ? 4 : 6.5;
  const dots = known.map((i, at) => {
    const score = P.score[i];
    const light = score === null ? 0 : (score - low) / (high - low || 1);
    const about = [problemName(i), `score ${num(score)}`, `${of[at].length} connections`].join("\n");
    return s("g", { class: "blue", ...leadingTo(problemLink(i)) },
      s("circle", { class: "dot", cx: x(i).toFixed(1), cy: y(i).toFixed(1), r: radius,
        "fill-opacity": (0.2 + 0.8 * light).toFixed(2),
        pointermove: (event) => {
          lit.setAttribute("d", path(of[at].map((other) => [i, other])));
          tip(event, about);
        },
        pointerleave: (event) => { lit.removeAttribute("d"); tip(event, null); } }));
  });
  return h("figure", { class: "figure" },
    s("svg", { id: "map-svg", width, height, viewBox: `0 0 ${width} ${height}`, role: "img",
      "aria-label": `Map of ${counted(known.length, "problem")}; near problems lie close together. ` +
        "The page of each problem lists the nearest ones with their distances" },
      s("path", { class: edges.length > 1500 ? "edges many" : "edges", d: path(edges) }), lit, dots,
      names(known, x, y, radius, (at) => of[at].length, width, height)),
    h("figcaption", null, "A dot for each problem, joined to the nearest problems that its best run used " +
      "(at most 5); near problems lie close together, directions mean nothing. The stronger the colour, " +
      `the higher the score (${score3(low)} to ${score3(high)}). Names stand where there is room; ` +
      "point at a dot to see its name, a click leads to it."));
}
