// The tree of namespaces: it keeps which ones are open, and is walked with the arrow keys.
(() => {
  "use strict";
  const KEPT = "deltaweb-tree";
  const MAX_KEPT = 50;
  const kept = () => {
    try { return JSON.parse(localStorage.getItem(KEPT) || "[]"); } catch { return []; }
  };
  const keep = (names) => {
    try { localStorage.setItem(KEPT, JSON.stringify(names.slice(-MAX_KEPT))); } catch { /* private mode */ }
  };

  // `toggle` does not bubble.
  document.addEventListener("toggle", ({ target }) => {
    if (!target.matches?.("[data-branch]")) return;
    const others = kept().filter((name) => name !== target.dataset.branch);
    keep(target.open ? [...others, target.dataset.branch] : others);
  }, { capture: true });
  const start = () => {
    const names = kept();
    document.querySelectorAll("[data-branch]").forEach((branch) => {
      if (names.includes(branch.dataset.branch) && branch.offsetParent) branch.open = true;
    });
  };

  const stops = (tree) => [...tree.querySelectorAll("a, summary")].filter((one) => one.checkVisibility());
  const walk = (tree, from, by) => {
    const all = stops(tree);
    all[all.indexOf(from) + by]?.focus();
  };
  const setOpen = (at, open) => {
    const branch = at.closest("li").querySelector(":scope > details") ?? at.closest("details");
    if (!branch) return;
    if (!open && !branch.contains(at) && !branch.open) return;
    branch.open = open;
    if (!open && !at.checkVisibility()) branch.querySelector("summary").focus();
  };
  const keys = {
    ArrowDown: (tree, at) => walk(tree, at, 1),
    ArrowUp: (tree, at) => walk(tree, at, -1),
    ArrowRight: (_, at) => setOpen(at, true),
    ArrowLeft: (_, at) => setOpen(at, false),
  };
  document.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || event.shiftKey) return;
    const sheet = document.querySelector("details[data-bottom][open]");
    if (event.key === "Escape" && sheet?.checkVisibility()) {
      sheet.open = false;
      sheet.querySelector("summary").focus();
      return;
    }
    const tree = event.target.closest?.("[data-tree]");
    if (!tree || !keys[event.key] || !event.target.matches("a, summary")) return;
    event.preventDefault();
    keys[event.key](tree, event.target);
  });

  // The page has one copy of the tree and the filters: an open sheet takes it.
  const narrow = matchMedia("(max-width: 767.98px)");
  const move = () => {
    const sheet = document.querySelector("details[data-bottom]");
    const aside = document.querySelector(".dw-facets > aside");
    if (!sheet || !aside) return;
    const bottom = sheet.querySelector(".dw-bottom");
    const [from, to] = narrow.matches && sheet.open ? [aside, bottom] : [bottom, aside];
    to.append(...from.childNodes);
    if (to === bottom) start(); // branches are shown only once it is open
  };
  narrow.addEventListener("change", move);
  document.addEventListener("toggle", ({ target }) => {
    if (target.matches?.("[data-bottom]")) move();
  }, { capture: true });
  document.addEventListener("deltaweb:main", start);
  if (document.readyState === "loading") document.addEventListener("DOMContentLoaded", start);
  else start();
})();
