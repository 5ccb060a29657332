// Small plots in SVG; colours can be told apart by the colour-blind, and shapes and dashes help.

function ticks(low, high, about = 5) {
  const rough = (high - low || 1) / about;
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = [1, 2, 5, 10].map((each) => each * power).find((each) => each >= 0.7 * rough);
  const found = [];
  for (let n = Math.ceil(low / step - 1e-9); n * step <= high + 1e-9 * step; n += 1)
    found.push(Number((n * step).toPrecision(10)));
  return found;
}

const tick = (value) => value.toLocaleString("en", { maximumSignificantDigits: 6 }).replace("-", "−");

function range(values, margin = 0.06) {
  const low = Math.min(...values), high = Math.max(...values);
  const more = (high - low || Math.abs(high) || 1) * margin;
  return [low - more, high + more];
}

function scale([low, high], [from, to], logarithmic) {
  const f = logarithmic ? (v) => Math.log(v) : (v) => v;
  return (v) => from + ((f(v) - f(low)) / (f(high) - f(low) || 1)) * (to - from);
}

// series: {name, kind: "line" | "dots", colour, dashed, points: [[x, y, text, link]]}
// levels: {name, colour, dashed, y}
// xs: what the horizontal axis must hold besides the points
function plot({ label, xLabel, yLabel, series, levels = [], xs: more = [], logX = false,
  height = 260 }) {
  const width = Math.max(300, Math.min(640, byId("main").clientWidth || 640));
  const points = series.flatMap((each) => each.points);
  const xs = [...points.map((each) => each[0]), ...more];
  const ys = [...points.map((each) => each[1]), ...levels.map((each) => each.y)];
  const inside = { left: 54, right: width - 14, top: 12, bottom: height - 42 };
  const xRange = logX ? [Math.min(...xs) / 1.15, Math.max(...xs) * 1.15] : range(xs);
  const x = scale(xRange, [inside.left, inside.right], logX);
  const yRange = range(ys);
  const y = scale(yRange, [inside.bottom, inside.top]);
  const xTicks = logX ? [...new Set(xs)].sort((a, b) => a - b) : ticks(...xRange);
  const parts = ticks(...yRange).flatMap((at) => [
    s("line", { class: "grid", x1: inside.left, x2: inside.right, y1: y(at), y2: y(at) }),
    s("text", { class: "soft", x: inside.left - 6, y: y(at) + 4, "text-anchor": "end" }, tick(at)),
  ]);
  let last = -Infinity;
  for (const at of xTicks) {
    if (x(at) - last < 34) continue;
    last = x(at);
    parts.push(s("text", { class: "soft", x: last, y: inside.bottom + 17, "text-anchor": "middle" },
      tick(at)));
  }
  parts.push(s("line", { class: "axis", x1: inside.left, x2: inside.right, y1: inside.bottom,
    y2: inside.bottom }));
  parts.push(s("text", { x: (inside.left + inside.right) / 2, y: height - 6,
    "text-anchor": "middle" }, xLabel));
  parts.push(s("text", { x: -(inside.top + inside.bottom) / 2, y: 12, "text-anchor": "middle",
    transform: "rotate(-90)" }, yLabel));
  for (const each of levels)
    parts.push(s("line", { class: `level ${each.colour} ${each.dashed ? "dashed" : ""}`,
      x1: inside.left, x2: inside.right, y1: y(each.y), y2: y(each.y),
      ...hovering(`${each.name}: ${num(each.y)}`) }));
  for (const each of series) {
    const places = each.points.map((point) => [x(point[0]), y(point[1])]);
    if (each.kind === "line" && places.length > 1)
      parts.push(s("path", { class: `line ${each.colour} ${each.dashed ? "dashed" : ""}`,
        d: "M" + places.map((place) => place.map((v) => v.toFixed(1)).join(" ")).join("L") }));
    each.points.forEach((point, at) => {
      const [cx, cy] = places[at];
      const dot = s("circle", { class: "dot", cx, cy, r: each.kind === "line" ? 4 : 4.5,
        ...hovering(point[2]) });
      parts.push(s("g", { class: each.colour, ...(point[3] ? leadingTo(point[3]) : {}) }, dot));
    });
  }
  const names = [...series, ...levels].filter((each) => each.name);
  return h("figure", { class: "figure" },
    names.length > 1 ? legend(names) : null,
    s("svg", { width, height, viewBox: `0 0 ${width} ${height}`, role: "img",
      "aria-label": label }, parts));
}

function legend(names) {
  return h("ul", { class: "legend" }, names.map((each) => h("li", null,
    s("svg", { class: each.colour, width: 26, height: 12, "aria-hidden": "true" },
      each.kind === "dots" ? null
        : s("line", { class: `level ${each.dashed ? "dashed" : ""}`,
          ...(each.kind === "tick" ? { x1: 13, x2: 13, y1: 0, y2: 12 } : { x1: 0, x2: 26, y1: 6, y2: 6 }) }),
      each.kind && each.kind !== "tick" ? s("circle", { class: "dot", cx: 13, cy: 6, r: 4 }) : null),
    each.name)));
}

// A score between its baselines, for a cell of a table, which has them as numbers too.
function between(i, [low, high]) {
  const x = scale([low, high], [6, 94]);
  const mark = (value, colour) => value === null ? null
    : s("line", { class: `level ${colour}`, x1: x(value), x2: x(value), y1: 2, y2: 14 });
  return s("svg", { width: 100, height: 16, "aria-hidden": "true", ...hovering(
    `score ${num(P.score[i])}\nall features ${num(P.all_features[i])}\nno skill ${num(P.no_skill[i])}`) },
    s("line", { class: "grid", x1: 6, x2: 94, y1: 8, y2: 8 }),
    mark(P.no_skill[i], "grey"), mark(P.all_features[i], "orange"),
    P.score[i] === null ? null
      : s("g", { class: "blue" }, s("circle", { class: "dot", cx: x(P.score[i]), cy: 8, r: 5 })));
}

// A weight to the left or right of zero, for a cell of a table.
function weightBar(weight, most) {
  if (weight === null) return "–";
  const long = (Math.abs(weight) / (most || 1)) * 46;
  return s("svg", { width: 100, height: 14, "aria-hidden": "true" },
    s("g", { class: weight < 0 ? "orange" : "blue" },
      s("rect", { class: "bar", x: weight < 0 ? 50 - long : 50, y: 2, width: long, height: 10 })),
    s("line", { class: "axis", x1: 50, x2: 50, y1: 0, y2: 14 }));
}

function bars(label, rows) {
  const known = rows.filter((each) => each[1] !== null);
  if (!known.length) return null;
  const width = Math.max(300, Math.min(520, byId("main").clientWidth || 520));
  const x = scale([Math.min(0, ...known.map((each) => each[1])), Math.max(1, ...known.map(
    (each) => each[1]))], [140, width - 50]);
  return h("figure", { class: "figure" },
    s("svg", { width, height: known.length * 26, viewBox: `0 0 ${width} ${known.length * 26}`,
      role: "img", "aria-label": `${label}: ${known.map((each) => `${each[0]} ${num(each[1])}`)
        .join(", ")}` },
      known.flatMap(([name, value, colour], at) => [
        s("text", { x: 132, y: at * 26 + 17, "text-anchor": "end" }, name),
        s("g", { class: colour }, s("rect", { class: "bar", x: Math.min(x(0), x(value)),
          y: at * 26 + 4, width: Math.abs(x(value) - x(0)), height: 18 })),
        s("text", { x: Math.max(x(0), x(value)) + 6, y: at * 26 + 17 }, num(value)),
      ])));
}
