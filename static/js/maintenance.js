// The what-if of a vacuum: a slider over what a look has found, without a request.
// Without script the number field and its button do the same.
(() => {
  "use strict";

  const UNITS = ["B", "KiB", "MiB", "GiB", "TiB", "PiB"];
  const HOURS_A_DAY = 24;
  const exact = (count) => count.toLocaleString("en-US");
  const plural = (count, word) => `${exact(count)} ${word}${count === 1 ? "" : "s"}`;

  const size = (bytes) => {
    let value = bytes;
    let unit = 0;
    while (value >= 1024 && unit < UNITS.length - 1) {
      value /= 1024;
      unit += 1;
    }
    if (!unit) return `${bytes} B`;
    return `${value.toFixed(value < 100 ? 1 : 0)} ${UNITS[unit]}`;
  };

  const words = (hours) => {
    const days = Math.floor(hours / HOURS_A_DAY);
    const rest = hours % HOURS_A_DAY;
    const said = [];
    if (days) said.push(plural(days, "day"));
    if (rest) said.push(plural(rest, "hour"));
    return said.join(" ") || "no time";
  };

  const start = (box) => {
    const found = JSON.parse(box.querySelector("script").textContent);
    const field = box.querySelector("[data-hours]");
    const range = box.querySelector("[data-range]");
    const act = document.querySelector("[data-whatif-act]");
    const put = (name, text) => {
      box.querySelector(`[data-${name}]`).textContent = text;
    };
    // The versions that stay, and those that do not, on the axis of the bars.
    const showBands = (step, hours) => {
      const cut = (100 * (found.axis - Math.min(hours, found.axis))) / found.axis;
      const stay = Math.max(found.begin, cut);
      put("after", exact(found.now - step.num_lost));
      box.querySelector("[data-hatched]").hidden = !step.num_lost;
      box.querySelector("[data-band-lost]").setAttribute("width", `${stay - found.begin}%`);
      const stays = box.querySelector("[data-band-stay]");
      stays.setAttribute("x", `${stay}%`);
      stays.setAttribute("width", `${100 - stay}%`);
    };
    const show = (hours) => {
      const step = found.steps.filter((one) => one.hours <= hours).pop();
      put("days", `= ${words(hours)}`);
      put("num-files", exact(step.num_files));
      put("size", size(step.size_bytes));
      put("stays", size(found.steps[0].size_bytes - step.size_bytes));
      box.querySelector("[data-lost]").hidden = !step.num_lost;
      box.querySelector("[data-kept]").hidden = Boolean(step.num_lost);
      put("lost-count", exact(step.num_lost));
      put("lost-first", step.first_lost ?? "");
      put("lost-last", step.last_lost ?? "");
      const x = `${(100 * (found.axis - Math.min(hours, found.axis))) / found.axis}%`;
      const cut = box.querySelector("[data-cut]");
      cut.setAttribute("x1", x);
      cut.setAttribute("x2", x);
      for (const bar of box.querySelectorAll("[data-bar]")) {
        const goes = (Number(bar.dataset.bar) + 1) * HOURS_A_DAY > hours;
        bar.setAttribute("class", goes ? "w-go" : "w-stay");
      }
      if (found.begin !== undefined) showBands(step, hours);
      range.setAttribute("aria-valuetext", words(hours));
      if (!act) return;
      act.elements.hours.value = hours;
      act.querySelector("button").disabled = !step.num_files;
      act.querySelector("[data-does]").textContent =
        `Delete ${plural(step.num_files, "file")}, ${size(step.size_bytes)}`;
    };
    range.hidden = false;
    range.addEventListener("input", () => {
      // The slider stops at what the table allows.
      const hours = Math.max(found.least, Number(range.value));
      range.value = hours;
      field.value = hours;
      show(hours);
    });
    field.addEventListener("input", () => {
      if (!field.checkValidity()) return;
      range.value = field.value;
      show(Number(field.value));
    });
  };

  const startAll = () => {
    for (const box of document.querySelectorAll("[data-whatif]:not([data-started])")) {
      box.dataset.started = "";
      start(box);
    }
  };
  document.addEventListener("deltaweb:main", startAll);
  document.addEventListener("htmx:load", startAll);
  startAll();
})();
