// A table that sorts by a click on a heading and filters by words.
//
// A table of `few` rows needs no filter. A column is {label, of, show, word}: `of` gives what is sorted by, `show` what a cell holds.
const kept = {}; // how each table was last sorted and filtered, by name

function compare(a, b) {
  if (typeof a === "string" && typeof b === "string")
    return a.localeCompare(b, "en", { numeric: true });
  return a - b;
}

function sorted(rows, column, down) {
  const isKnown = (row) => column.of(row) !== null && column.of(row) !== undefined;
  const known = rows.filter(isKnown);
  const unknown = rows.filter((row) => !isKnown(row));
  known.sort((a, b) => (down ? -1 : 1) * compare(column.of(a), column.of(b)));
  return [...known, ...unknown];
}

function plainTable(label, columns, rows) {
  const head = columns.map((each) => h("th", { scope: "col", class: each.word && "word" }, each.label));
  return h("div", { class: "wide snug", tabindex: "0", role: "region", "aria-label": `${label}: table` },
    h("table", null, h("caption", { class: "unseen" }, label), h("thead", null, h("tr", null, head)),
      h("tbody", null, rows.map((row) => bodyRow(columns, row)))));
}

function bodyRow(columns, row) {
  return h("tr", null, columns.map((each, at) => {
    const cell = each.show ? each.show(row) : num(each.of(row));
    const kind = { class: each.word && "word" };
    return at === 0 ? h("th", { scope: "row", ...kind }, cell) : h("td", kind, cell);
  }));
}

function sortingTable(name, label, all, rows, found, noun = "row", few = 5) {
  const isKnown = (value) => value !== null && value !== undefined;
  const columns = all.filter((each) => each.word || rows.some((row) => isKnown(each.of(row))));
  const state = (kept[name] ||= { column: null, down: false, filter: "" });
  const body = h("tbody"), made = new Map(); // the rows that were drawn once
  const count = h("output", { "aria-live": "polite" });
  const heads = columns.map((column, at) =>
    h("th", { scope: "col", class: column.word && "word", "aria-sort": "none" },
      h("button", { type: "button", "data-focus": `${name} ${at}`, click: () => sortBy(at) },
        column.label)));
  const words = h("input", {
    type: "search", id: `${name}-filter`, autocomplete: "off", spellcheck: "false",
    "data-focus": `${name} filter`, input: () => { state.filter = words.value; draw(); },
  });
  words.value = state.filter;

  function sortBy(at) {
    state.down = state.column === columns[at].label ? !state.down : !columns[at].word;
    state.column = columns[at].label;
    draw();
    say(`sorted by ${columns[at].label}, ${state.down ? "descending" : "ascending"}`);
  }

  function rowOf(row) {
    if (!made.has(row)) made.set(row, bodyRow(columns, row));
    return made.get(row);
  }

  function draw() {
    const wanted = state.filter.toLowerCase().split(/\s+/).filter(Boolean);
    let shown = rows.filter((row) => {
      const text = found(row).toLowerCase();
      return wanted.every((each) => text.includes(each));
    });
    const by = columns.find((each) => each.label === state.column);
    if (by) shown = sorted(shown, by, state.down);
    heads.forEach((head, at) => head.setAttribute("aria-sort",
      columns[at] !== by ? "none" : state.down ? "descending" : "ascending"));
    body.replaceChildren(...shown.map(rowOf));
    count.textContent = `${num(shown.length)} of ${counted(rows.length, noun)}`;
  }

  draw();
  return h("div", null,
    rows.length <= few ? null
      : h("div", { class: "controls" }, h("label", { for: words.id }, "Filter"), words, count),
    h("div", { class: "wide", tabindex: "0", role: "region", "aria-label": `${label}: table` },
      h("table", { id: name }, h("caption", { class: "unseen" }, label),
        h("thead", null, h("tr", null, heads)), body)));
}
