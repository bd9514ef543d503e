// The tree of a schema: rows that open and close, walked with the arrow keys.
// Source: WAI-ARIA Authoring Practices, "Treegrid Pattern", rows that take the focus.
(() => {
  "use strict";
  const tree = () => document.getElementById("schema-tree");
  const rows = () => [...(tree()?.tBodies[0].rows ?? [])];
  const level = (row) => Number(row.getAttribute("aria-level"));
  const isBranch = (row) => row.hasAttribute("aria-expanded");
  const isOpen = (row) => row.getAttribute("aria-expanded") === "true";
  const parent = (row) => {
    let above = row.previousElementSibling;
    while (above && level(above) >= level(row)) above = above.previousElementSibling;
    return above;
  };

  // A row is hidden while a row above it, on the way to the top, is closed.
  const show = () => {
    let closedAt = Infinity;
    rows().forEach((row) => {
      if (level(row) <= closedAt) closedAt = Infinity;
      row.hidden = level(row) > closedAt;
      if (!row.hidden && isBranch(row) && !isOpen(row)) closedAt = level(row);
    });
  };
  const setOpen = (row, open) => {
    row.setAttribute("aria-expanded", String(open));
    show();
    const focused = document.activeElement?.closest("#schema-tree tr");
    if (focused?.hidden) focus(row);
  };

  // One row at a time is in the order of Tab; links in rows are reached by Enter.
  const focus = (row) => {
    if (!row) return;
    rows().forEach((other) => { other.tabIndex = other === row ? 0 : -1; });
    row.focus();
    row.scrollIntoView({ block: "nearest" });
  };
  const visible = () => rows().filter((row) => !row.hidden);
  const beside = (row, by) => {
    const all = visible();
    return all[Math.min(Math.max(all.indexOf(row) + by, 0), all.length - 1)];
  };
  const enter = (row) => {
    if (isBranch(row) && !isOpen(row)) setOpen(row, true);
    else if (isBranch(row)) focus(beside(row, 1));
  };
  const leave = (row) => {
    if (isBranch(row) && isOpen(row)) setOpen(row, false);
    else focus(parent(row));
  };
  const keys = {
    ArrowDown: (row) => focus(beside(row, 1)),
    ArrowUp: (row) => focus(beside(row, -1)),
    ArrowRight: enter,
    ArrowLeft: leave,
    Home: () => focus(visible()[0]),
    End: () => focus(visible().at(-1)),
    Enter: (row) => row.querySelector("a")?.click(),
  };
  document.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || event.shiftKey) return;
    const row = event.target.closest?.("#schema-tree tbody tr");
    if (!row || !keys[event.key]) return;
    if (event.key === "Enter" && event.target !== row) return; // the link or the button itself
    event.preventDefault();
    keys[event.key](row);
  });

  document.addEventListener("click", (event) => {
    const row = event.target.closest("#schema-tree tbody tr");
    if (event.target.closest("[data-twist]")) {
      setOpen(row, !isOpen(row));
      focus(row);
    }
    const all = event.target.closest("[data-tree-all]");
    if (all) {
      const open = all.textContent.trim().startsWith("Expand");
      rows().filter(isBranch).forEach((branch) => branch.setAttribute("aria-expanded", String(open)));
      show();
      name(all, open);
    }
  });
  const name = (all, open) => { all.textContent = open ? "Collapse all" : "Expand all"; };

  const start = () => {
    rows().forEach((row, place) => { row.tabIndex = place ? -1 : 0; });
    tree()?.querySelectorAll("a").forEach((link) => { link.tabIndex = -1; });
    const all = document.querySelector("[data-tree-all]");
    if (!all) return;
    all.hidden = !rows().some(isBranch);
    name(all, true);
  };
  document.addEventListener("deltaweb:main", start);
  document.addEventListener("htmx:afterSwap", start);
  if (document.readyState === "loading") document.addEventListener("DOMContentLoaded", start);
  else start();
})();
