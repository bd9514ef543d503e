// The pages over a table: version keys, nested cells.
(() => {
  "use strict";
  const say = (text) => {
    const live = document.getElementById("live");
    if (live) live.textContent = text;
  };
  const typing = (element) => element.matches("input, textarea, select, [contenteditable]");

  // === Versions: [ and ] step, y pins the address ===
  const timeline = () => document.querySelector("[data-timeline]");
  const shownVersion = () => Number(timeline()?.querySelector("input[name=v]")?.value);
  const withVersion = (version) => {
    const query = new URLSearchParams(location.search);
    ["page", "before"].forEach((name) => query.delete(name));
    query.set("v", version);
    const path = location.pathname.replace(/\/history\/\d+$/, "/history").replace(/\/compare\/.*$/, "/compare");
    return `${path}?${query}`;
  };
  const step = (by) => {
    const strip = timeline();
    if (!strip) return;
    const commit = document.querySelector(by < 0 ? "a[rel=prev]" : "a[rel=next]");
    if (/\/history\/\d+$/.test(location.pathname)) {
      if (commit) location.assign(commit.href);
      return;
    }
    const version = shownVersion() + by;
    if (version < Number(strip.dataset.first) || version > Number(strip.dataset.last)) {
      say(by < 0 ? "This is the first version" : "This is the newest version");
      return;
    }
    location.assign(withVersion(version));
  };
  const pin = () => {
    if (!timeline()) return;
    const address = /\/(history\/\d+|compare\/\d+\.\.\.\d+)$/.test(location.pathname)
      ? location.pathname
      : withVersion(shownVersion());
    history.replaceState(null, "", address);
    const done = () => say(`The address now names version ${shownVersion()}`);
    navigator.clipboard?.writeText(location.href).then(done, done);
  };

  const compare = () => {
    if (!timeline()) return;
    const table = location.pathname.match(/^.*?\/t\/[^/]+\/[^/]+/); // behind a proxy not first
    if (table) location.assign(`${table[0]}/compare?v=${shownVersion()}`);
  };

  document.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    if (typing(event.target) || document.querySelector("dialog[open]")) return;
    const does = { "[": () => step(-1), "]": () => step(1), y: pin, c: compare };
    if (does[event.key]) {
      event.preventDefault();
      does[event.key]();
    }
  });

  // === History: two versions are compared once one is ticked ===
  const showPicked = () => {
    const isNone = !document.querySelector("input[name=pick]:checked");
    document.querySelectorAll("#compare-picked button").forEach((button) => { button.disabled = isNone; });
  };
  document.addEventListener("change", (event) => {
    if (event.target.matches("input[name=pick]")) showPicked();
  });
  document.addEventListener("deltaweb:main", showPicked);
  window.addEventListener("pageshow", showPicked); // a page that is come back to keeps its ticks
  showPicked();

  document.addEventListener("click", (event) => {
    const path = event.target.closest(".x-json-k");
    if (path) navigator.clipboard?.writeText(path.dataset.path).then(() => say(`Copied ${path.dataset.path}`));
    const cell = event.target.closest(".x-cell > summary");
    if (cell) {
      event.preventDefault();
      openCell(cell);
    }
  });

  // === Nested cells: a panel with the tree of the value ===
  const panel = () => {
    let dialog = document.getElementById("cell-panel");
    if (dialog) return dialog;
    dialog = document.createElement("dialog");
    dialog.id = "cell-panel";
    dialog.className = "dw-dialog";
    dialog.setAttribute("aria-label", "Value");
    dialog.innerHTML =
      '<div class="dw-sheet-h"><h2></h2><button class="dw-btn dw-btn-s dw-aside" type="button" data-close>Close</button></div><div class="dw-sheet-b x-json"></div>';
    document.body.append(dialog);
    return dialog;
  };
  const scalar = (value) => {
    const span = document.createElement("span");
    span.className = typeof value === "string" ? "x-json-s" : "x-json-o";
    span.textContent = value === "" ? '""' : String(value);
    return span;
  };
  const branch = (key, value, path) => {
    const name = document.createElement("button");
    name.type = "button";
    name.className = "x-json-k";
    name.dataset.path = path;
    name.title = `Copy the path ${path}`;
    name.textContent = key;
    if (value === null || typeof value !== "object") {
      const line = document.createElement("div");
      line.append(name, ": ", scalar(value));
      return line;
    }
    const details = document.createElement("details");
    details.open = true;
    const summary = document.createElement("summary");
    const count = Object.keys(value).length;
    const about = document.createElement("span");
    about.className = "x-json-o";
    about.textContent = Array.isArray(value) ? ` [${count}]` : ` {${count}}`;
    summary.append(name, about);
    details.append(summary, ...children(value, path));
    return details;
  };
  const children = (value, path) =>
    Object.entries(value).map(([key, item]) =>
      branch(key, item, Array.isArray(value) ? `${path}[${key}]` : `${path}.${key}`),
    );
  const openCell = (summary) => {
    const place = summary.closest("td");
    const table = place.closest("table");
    const header = table.tHead.rows[0].cells[place.cellIndex];
    const name = header.querySelector("a")?.title || header.textContent.trim();
    const text = summary.parentElement.querySelector("pre").textContent;
    const dialog = panel();
    dialog.querySelector("h2").textContent = name;
    const body = dialog.querySelector(".x-json");
    let value = null;
    try { value = JSON.parse(text); } catch { /* text, or cut JSON: shown as it is */ }
    if (value !== null && typeof value === "object") {
      body.replaceChildren(...children(value, name));
    } else {
      const pre = document.createElement("pre");
      pre.textContent = text;
      body.replaceChildren(pre);
    }
    dialog.showModal();
  };
})();
