// Elements, links and numbers. Texts are only ever set as text, so no name is read as markup.
const SVG = "http://www.w3.org/2000/svg";
const byId = (id) => document.getElementById(id);

function fill(element, attributes, children) {
  for (const [name, value] of Object.entries(attributes || {})) {
    if (typeof value === "function") element.addEventListener(name, value);
    else if (value !== null && value !== undefined && value !== false)
      element.setAttribute(name, value === true ? "" : value);
  }
  for (const child of children.flat())
    if (child !== null && child !== undefined) element.append(child);
  return element;
}

const h = (tag, attributes, ...children) =>
  fill(document.createElement(tag), attributes, children);
const s = (tag, attributes, ...children) =>
  fill(document.createElementNS(SVG, tag), attributes, children);

const bdi = (text) => h("bdi", null, text);
// What stands between backticks is typed as it is, and not broken at a line's end.
const prose = (text) => text.split("`").map((part, at) => (at % 2 ? h("code", null, part) : part));
const soft = (text) => h("p", { class: "soft" }, prose(text));
const link = (text, to) => (to === null ? bdi(text) : h("a", { href: to }, bdi(text)));
const toProblem = (i) => link(problemName(i), problemLink(i));
const toFeature = (f) => link(D.features.name[f], featureLink(f));

function section(id, title, ...children) {
  return h("section", { "aria-labelledby": id }, h("h2", { id }, title), ...children);
}

// Three significant digits (or as many as asked), or all digits before the point.
function num(value, digits = 3) {
  if (value === null || value === undefined) return "–";
  if (value < 0) return `−${num(-value, digits)}`;
  if (Number.isInteger(value)) return value.toLocaleString("en");
  if (value >= 100) return Math.round(value).toLocaleString("en");
  if (value < 0.001) return value.toPrecision(2);
  return value < 1 ? value.toFixed(digits) : value.toPrecision(digits);
}

// A score: three digits after the point, also where it is 1.
const score3 = (value) => (value === null ? "–" : value.toFixed(3));

// A difference of scores, with its sign and as many digits as scores have.
const difference3 = (value) =>
  (value === null ? "–" : `${value < 0 ? "−" : "+"}${Math.abs(value).toFixed(3)}`);

// A weight, with its sign and as many digits where it happens to be whole.
function signed(value, digits = 3) {
  if (value < 0) return `−${signed(-value, digits).slice(1)}`;
  const whole = Number.isInteger(value) && value !== 0 && value < 100;
  return (value > 0 ? "+" : "") + (whole ? value.toPrecision(digits) : num(value, digits));
}

function seconds(value) {
  if (value === null) return "–";
  if (value < 120) return `${num(value)} s`;
  return value < 7200 ? `${num(value / 60)} min` : `${num(value / 3600)} h`;
}

const counted = (n, noun) => `${num(n)} ${noun}${n === 1 ? "" : "s"}`;

function say(text) {
  byId("said").textContent = text;
}

// The one tooltip; whatever it says is also in a table.
function tip(event, text) {
  const box = byId("tip");
  box.hidden = !text;
  if (!text) return;
  box.textContent = text;
  const left = Math.min(event.clientX + 14, window.innerWidth - box.offsetWidth - 8);
  const above = event.clientY + 18 + box.offsetHeight > window.innerHeight;
  box.style.left = `${Math.max(4, left)}px`;
  box.style.top = `${above ? event.clientY - box.offsetHeight - 10 : event.clientY + 18}px`;
}

const hovering = (text) => ({
  pointermove: (event) => tip(event, text),
  pointerleave: (event) => tip(event, null),
});

// A mark of a figure that leads somewhere by a click; the table beside it has the same links.
const leadingTo = (to) => ({ "data-to": to, click: () => { location.hash = to.slice(1); } });

const folded = (summary, ...children) =>
  h("details", null, h("summary", null, summary), ...children);
