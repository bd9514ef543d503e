// A button that copies each block of code of the manual.
(() => {
  "use strict";
  const start = () => {
    document.querySelectorAll(".dw-prose pre:not([data-has-copy])").forEach((block) => {
      block.dataset.hasCopy = "";
      const button = document.createElement("button");
      button.type = "button";
      button.className = "dw-btn dw-btn-s dw-prose-copy";
      button.textContent = "Copy";
      button.dataset.copy = block.textContent.trim();
      block.after(button);
    });
  };
  document.addEventListener("deltaweb:main", start);
  if (document.readyState === "loading") document.addEventListener("DOMContentLoaded", start);
  else start();
})();
