// The live page: new data without reloading, and a box for questions in SQL.
const EVERY_MS = 2000;
let tag = `"${document.documentElement.dataset.tag}"`;

async function poll() {
  const about = byId("about");
  try {
    if (!document.hidden) {
      const answer = await fetch("data", { cache: "no-store", credentials: "same-origin",
        headers: { "If-None-Match": tag } });
      about.classList.remove("failed");
      if (answer.status === 200) {
        tag = answer.headers.get("ETag");
        const before = P.name.length;
        read(await answer.json());
        about.textContent = `${D.source}, as of ${D.made}; live`;
        draw();
        if (P.name.length !== before) say(`${P.name.length} problems`);
      } else if (answer.status !== 304) throw new Error(`status ${answer.status}`);
    }
  } catch (error) {
    about.textContent = `${D.source}, as of ${D.made}; not connected (${error.message})`;
    about.classList.add("failed");
  }
  setTimeout(poll, EVERY_MS);
}

// At most six digits; whole numbers have all of theirs.
const brief = (value) => String(Number.isInteger(value) ? value : Number(value.toPrecision(6)));

function sqlSection() {
  const query = h("textarea", { id: "sql-query", rows: "4", spellcheck: "false",
    "data-focus": "sql", "aria-describedby": "sql-help",
    keydown: (event) => {
      if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) ask();
    } });
  query.value = "select name, share from core_feature order by share desc limit 10";
  const button = h("button", { type: "button", id: "sql-run", "data-focus": "sql run", click: ask }, "Run");
  const answer = h("div", { id: "sql-answer", "aria-live": "polite" });

  async function ask() {
    button.disabled = true;
    answer.replaceChildren(soft("The query is running …"));
    try {
      const reply = await fetch("sql", { method: "POST", credentials: "same-origin",
        headers: { "Content-Type": "application/json", "X-Metafs": "sql" },
        body: JSON.stringify({ query: query.value }) });
      const found = await reply.json();
      answer.replaceChildren(...(reply.ok ? table(found)
        : [h("p", { class: "failed", role: "alert" }, found.error)]));
    } catch (error) {
      answer.replaceChildren(h("p", { class: "failed", role: "alert" }, `not connected: ${error.message}`));
    }
    button.disabled = false;
  }

  function table({ columns, rows, more }) {
    const heads = columns.map((label, at) => ({ label, word: rows.some((row) =>
      typeof row[at] === "string"), of: (row) => row[at], show: (row) =>
      (typeof row[at] === "number" ? brief(row[at]) : bdi(row[at] ?? "–")) }));
    return [soft(`${counted(rows.length, "row")}${more ? "; the rest is left out" : ""}`),
      plainTable("Answer", heads, rows)];
  }

  return section("sql", "Ask in SQL",
    h("p", { class: "soft", id: "sql-help" }, "One statement that only reads, on a copy of the memory; " +
      "Ctrl+Enter runs it. Tables and views: problem, run, selection, feature, neighbour, trial, " +
      "best_run, core_feature, leaderboard, speedup."),
    h("label", { for: "sql-query" }, "Query"), query,
    h("div", { class: "controls" }, button), answer);
}

extra.push(sqlSection());
setTimeout(poll, EVERY_MS);
