// Loaded before the first paint, so that no page flashes in the wrong theme.
(() => {
  "use strict";
  const root = document.documentElement;
  const stored = () => {
    try { return localStorage.getItem("deltaweb-theme"); } catch { return null; }
  };
  const system = matchMedia("(prefers-color-scheme: dark)");
  const apply = () => {
    const theme = stored() || root.dataset.theme || (system.matches ? "dark" : "light");
    root.setAttribute("data-bs-theme", theme);
  };
  apply();
  system.addEventListener("change", apply);
})();
