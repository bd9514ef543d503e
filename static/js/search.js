// Search while one types: the box of the top bar is a combobox over a list of links, and
// from the box of the search page the arrow keys lead into its results. htmx fetches.
(() => {
  "use strict";
  const box = document.querySelector("[data-combobox]");
  const list = box && document.getElementById(box.dataset.combobox);
  const options = () => [...list.querySelectorAll("[role=option]")];
  const active = () => list.querySelector("[aria-selected=true]");

  const activate = (option) => {
    active()?.setAttribute("aria-selected", "false");
    if (option) {
      option.setAttribute("aria-selected", "true");
      option.scrollIntoView({ block: "nearest" });
      box.setAttribute("aria-activedescendant", option.id);
    } else {
      box.removeAttribute("aria-activedescendant");
    }
  };
  const show = (open) => {
    list.hidden = !open;
    box.setAttribute("aria-expanded", String(open));
    if (!open) activate(null);
  };
  const walk = (by) => {
    const all = options();
    const at = all.indexOf(active());
    activate(all[at < 0 ? (by > 0 ? 0 : all.length - 1) : (at + by + all.length) % all.length]);
  };
  const arrived = () => {
    options().forEach((option, number) => {
      option.id = `${list.id}-${number}`;
      option.tabIndex = -1;
      option.setAttribute("aria-selected", "false");
    });
    const count = options().length;
    show(count > 0 && box.value.trim() !== "" && box === document.activeElement);
    const live = document.getElementById("live");
    if (live && count) live.textContent = options()[count - 1].textContent.trim();
  };
  const pressed = (event) => {
    if (event.isComposing) return;
    const opens = event.key === "ArrowDown" || event.key === "ArrowUp";
    if (opens && options().length && box.value.trim()) {
      event.preventDefault();
      if (list.hidden) show(true);
      walk(event.key === "ArrowDown" ? 1 : -1);
    } else if (event.key === "Enter" && !list.hidden && active()) {
      event.preventDefault();
      active().click();
    } else if (event.key === "Escape" && !list.hidden) {
      event.preventDefault();
      show(false);
    }
  };

  if (box) {
    box.setAttribute("role", "combobox");
    box.setAttribute("aria-autocomplete", "list");
    box.setAttribute("aria-controls", list.id);
    box.setAttribute("aria-expanded", "false");
    box.addEventListener("keydown", pressed);
    box.addEventListener("focus", () => show(options().length > 0 && box.value.trim() !== ""));
    box.form.addEventListener("focusout", (event) => {
      if (!box.form.contains(event.relatedTarget)) show(false);
    });
    list.addEventListener("htmx:afterSwap", arrived);
    // A click on a link must not take the focus first: that would close the list.
    list.addEventListener("mousedown", (event) => event.preventDefault());
  }

  // The page of the search: down from its box into the results, and back up.
  document.addEventListener("keydown", (event) => {
    if (event.key !== "ArrowDown" && event.key !== "ArrowUp") return;
    const field = document.querySelector("[data-walks]");
    const results = field && document.querySelector(field.dataset.walks);
    if (!results || !(event.target === field || results.contains(event.target))) return;
    const stops = [field, ...results.querySelectorAll(".dw-hits a")];
    const next = stops[stops.indexOf(event.target) + (event.key === "ArrowDown" ? 1 : -1)];
    if (!next) return;
    event.preventDefault();
    next.focus();
  });
})();
