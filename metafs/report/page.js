// Begin: read the data, draw what the address asks for, and follow it.
const extra = []; // sections that only the live page has

function overview() {
  return [tiles(), problemSection(), gainSection(), leaderSection(), featureSection(), mapSection(),
    ...extra, termSection()];
}

function route() {
  const [, kind, key] = location.hash.match(/^#\/(problem|feature)\/(\d+)$/) || [];
  if (kind === "problem") {
    const i = P.problem_id.indexOf(Number(key));
    if (i >= 0) return { title: problemName(i), draw: () => problemPage(i) };
  }
  if (kind === "feature") {
    const f = D.features.feature_id.indexOf(Number(key));
    if (f >= 0) return { title: D.features.name[f], draw: () => featurePage(f) };
  }
  return null;
}

const title = document.title;
let begun = false, drawn = null, back = 0;

function draw() {
  const at = route();
  const focus = document.activeElement?.dataset?.focus;
  const scrolled = new Map([...document.querySelectorAll(".wide, .scroll")].map((each) =>
    [each.getAttribute("aria-label"), [each.scrollLeft, each.scrollTop]]));
  const detail = byId("detail"), first = byId("overview");
  tip(null, null);
  detail.hidden = !at;
  first.hidden = Boolean(at);
  byId("contents").hidden = Boolean(at);
  document.title = at ? `${at.title} – ${title}` : title;
  (at ? detail : first).replaceChildren(...(at ? at.draw() : overview()).flat().filter(Boolean));
  if (!at) detail.replaceChildren();
  contents();
  for (const each of document.querySelectorAll(".wide, .scroll")) {
    const before = scrolled.get(each.getAttribute("aria-label"));
    if (before) [each.scrollLeft, each.scrollTop] = before;
  }
  if (focus) document.querySelector(`[data-focus="${CSS.escape(focus)}"]`)?.focus();
}

function contents() {
  const heads = [...document.querySelectorAll("#overview h2")];
  byId("contents").replaceChildren(...heads.map((each) =>
    h("a", { href: `#${each.id}` }, each.textContent)));
}

function follow() {
  const now = route() ? location.hash : "";
  if (begun && now === drawn) return; // a link within the page
  if (drawn === "") back = window.scrollY;
  const returned = begun && !now;
  drawn = now;
  draw();
  if (now) {
    window.scrollTo(0, 0);
    byId("detail").querySelector("h2")?.focus({ preventScroll: true });
  } else if (returned) {
    const asked = document.getElementById(location.hash.slice(1));
    if (asked && location.hash.length > 2) asked.scrollIntoView();
    else window.scrollTo(0, back);
  }
  begun = true;
}

// Chromium may lose what was just written into localStorage when a file is loaded again, so the tab
// remembers the theme too, and writes it again. A page may have neither storage.
const storages = ["sessionStorage", "localStorage"];

function keptTheme() {
  for (const each of storages)
    try { const kept = window[each].getItem("metafs-theme"); if (kept) return kept; } catch { /* none */ }
  return null;
}

function keepTheme(value) {
  for (const each of storages)
    try { window[each].setItem("metafs-theme", value); } catch { /* none */ }
}

function theme() {
  const button = byId("theme"), root = document.documentElement;
  const dark = () => root.dataset.theme ? root.dataset.theme === "dark"
    : matchMedia("(prefers-color-scheme: dark)").matches;
  const name = () => { button.textContent = dark() ? "Light" : "Dark"; };
  const found = keptTheme();
  if (found) keepTheme(root.dataset.theme = found);
  button.hidden = false;
  button.setAttribute("aria-label", "Change between light and dark");
  button.addEventListener("click", () => {
    root.dataset.theme = dark() ? "light" : "dark";
    keepTheme(root.dataset.theme);
    name();
    draw();
  });
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => { name(); draw(); });
  name();
}

theme();
read(JSON.parse(byId("data").textContent));
window.addEventListener("hashchange", follow);
let resizing = null;
let drawnWidth = window.innerWidth;
window.addEventListener("resize", () => {
  clearTimeout(resizing);
  resizing = setTimeout(() => {
    if (window.innerWidth !== drawnWidth) { drawnWidth = window.innerWidth; draw(); }
  }, 150);
});
