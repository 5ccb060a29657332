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
const soft = (text) => h("p", { class: "soft" }, text);
const link = (text, to) => (to === null ? bdi(text) : h("a", { href: to }, bdi(text)));
const toProblem = (i) => link(problemName(i), problemLink(i));
const toFeature = (f) => link(D.features.name[f], featureLink(f));

function section(id, title, ...children) {
  return h("section", { "aria-labelledby": id }, h("h2", { id }, title), ...children);
}

// Three significant digits, or all digits before the point.
function num(value) {
  if (value === null || value === undefined) return "–";
  if (Number.isInteger(value)) return value.toLocaleString("en");
  if (Math.abs(value) >= 100) return Math.round(value).toLocaleString("en");
  if (Math.abs(value) < 0.001) return value.toPrecision(2);
  return Math.abs(value) < 1 ? value.toFixed(3) : value.toPrecision(3);
}

// A score: three digits after the point, also where it is 1.
const score3 = (value) => (value === null ? "–" : value.toFixed(3));

const signed = (value) =>
  value === null ? "–" : `${value > 0 ? "+" : value < 0 ? "−" : ""}${num(Math.abs(value))}`;

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

const folded = (summary, ...children) =>
  h("details", null, h("summary", null, summary), ...children);
