// The version timeline: the flag follows the pointer and the range input, a tip says
// what a version is, and a chosen version opens at once. Without script the form's
// button does it.
(() => {
  "use strict";
  let step = null; // what a key does to the timeline that the page shows

  const TIP_WIDTH = 292;
  const REST_MS = 120;
  const EDGE = 0.06; // nearer to an end, the flag's label leans inwards

  const start = (form) => {
    const range = form.querySelector(".dw-vt-range");
    const strip = form.querySelector(".dw-vt-strip");
    const hit = form.querySelector("[data-hit]");
    const flag = form.querySelector("[data-flag]");
    const tip = form.querySelector(".dw-vt-tip");
    const first = Number(form.dataset.first);
    const last = Number(form.dataset.last);
    const span = last - first + 1;
    const shown = Number(range.value);
    const runs = [...form.querySelectorAll("[data-state]")].map((rect) => rect.dataset);

    const runOf = (version) =>
      runs.find((run) => Number(run.first) <= version && version <= Number(run.last));

    const line = (tag, text, className) => {
      const element = document.createElement(tag);
      element.textContent = text;
      if (className) element.className = className;
      return element;
    };

    // === What the tip says of a commit: asked for once the pointer rests ===
    const commits = new Map();
    let pointed = shown;
    let timer = 0;
    const when = (commit) => {
      const at = new Date(commit.committed_at).toLocaleString("en-GB", {
        weekday: "short", day: "numeric", month: "short", year: "numeric",
        hour: "2-digit", minute: "2-digit", timeZone: "UTC",
      });
      return `${at} UTC${commit.user ? ` by ${commit.user}` : ""}`;
    };
    const ask = (version) => {
      clearTimeout(timer);
      timer = setTimeout(async () => {
        const answer = await fetch(form.dataset.tips.replace(/0\.json$/, `${version}.json`))
          .catch(() => null);
        commits.set(version, answer && answer.ok ? await answer.json() : {});
        if (!tip.hidden && pointed === version) showTip(version);
      }, REST_MS);
    };

    const showTip = (version) => {
      pointed = version;
      const run = runOf(version);
      const state = document.createElement("span");
      state.className = "dw-status";
      const dot = document.createElement("span");
      dot.className = `dw-dot ${run ? run.dot : ""}`;
      state.append(dot, run ? run.state : "unknown");
      const commit = commits.get(version);
      const title = commit && commit.operation ? `v${version}, ${commit.operation}` : `v${version}`;
      tip.replaceChildren(line("b", title));
      if (commit && commit.committed_at) tip.append(line("span", when(commit)));
      tip.append(state);
      if (!commit) ask(version);
      if (run && run.reason) tip.append(line("span", run.reason));
      if (commit && commit.files) tip.append(line("span", `${commit.files.words} left`));
      const width = strip.clientWidth;
      const x = ((version - first + 0.5) / span) * width;
      const left = Math.max(0, Math.min(width - TIP_WIDTH, x - TIP_WIDTH / 2));
      tip.style.left = `${left}px`;
      tip.hidden = false;
    };

    const moveFlag = (version) => {
      const share = (version - first + 0.5) / span;
      flag.setAttribute("x", `${share * 100}%`);
      const text = flag.querySelector("text");
      text.textContent = `v${version}`;
      const label = 12 + 6.5 * text.textContent.length;
      const rect = flag.querySelector("rect");
      rect.setAttribute("width", label);
      rect.setAttribute("x", -label / 2);
      const toEnd = Math.max(0, EDGE - Math.min(share, 1 - share)) / EDGE;
      const shift = (label / 2) * toEnd * (share < EDGE ? 1 : -1);
      flag.querySelector("g").setAttribute("transform", `translate(${shift} 0)`);
      const run = runOf(version);
      range.setAttribute("aria-valuetext", `Version ${version}${run ? `, ${run.state}` : ""}`);
    };

    const rest = () => {
      tip.hidden = true;
      range.value = shown;
      moveFlag(shown);
    };

    const at = (event) => {
      const box = hit.getBoundingClientRect();
      const share = Math.max(0, Math.min(0.999999, (event.clientX - box.left) / box.width));
      return first + Math.floor(share * span);
    };

    const open = (version) => {
      if (version === shown) return;
      const url = new URL(form.action, location.href);
      if (version !== last) url.searchParams.set("v", version);
      location.assign(url);
    };

    hit.addEventListener("pointermove", (event) => showTip(at(event)));
    hit.addEventListener("pointerleave", () => { tip.hidden = true; });
    hit.addEventListener("click", (event) => open(at(event)));
    range.addEventListener("input", () => {
      moveFlag(Number(range.value));
      showTip(Number(range.value));
    });
    range.addEventListener("focus", () => { if (range.matches(":focus-visible")) showTip(Number(range.value)); });
    range.addEventListener("blur", rest);

    // The keyboard moves the flag first and opens the version with Enter; a drag opens
    // it when it ends.
    range.addEventListener("keydown", (event) => {
      if (event.key === "Enter") {
        event.preventDefault();
        open(Number(range.value));
      } else if (event.key === "Escape") {
        rest();
      }
    });
    range.addEventListener("pointerup", () => open(Number(range.value)));
    form.addEventListener("submit", (event) => {
      event.preventDefault();
      open(Number(range.value));
    });

    // === Shortcuts: [ and ] step through versions, y pins the one that is shown ===
    step = (event) => {
      if (event.ctrlKey || event.metaKey || event.altKey) return;
      if (event.target.matches("input, textarea, select, [contenteditable]")) return;
      if (event.key === "[" && shown > first) open(shown - 1);
      if (event.key === "]" && shown < last) open(shown + 1);
      if (event.key === "y") {
        const url = new URL(location.href);
        url.searchParams.set("v", shown);
        history.replaceState(history.state, "", url);
        navigator.clipboard?.writeText(url.href).catch(() => {});
        const live = document.getElementById("live");
        if (live) live.textContent = `Address with version ${shown} pinned, and copied`;
      }
    };
  };

  const startAll = () => {
    step = null; // the page before may have been another table's
    document.querySelectorAll("[data-timeline]").forEach(start);
  };
  document.addEventListener("keydown", (event) => step?.(event));
  document.addEventListener("deltaweb:main", startAll);
  if (document.readyState === "loading") document.addEventListener("DOMContentLoaded", startAll);
  else startAll();
})();
