// What every page shares: theme switch, copy buttons, shortcuts, filter boxes.
(() => {
  "use strict";
  const root = document.documentElement;

  const say = (text) => {
    const live = document.getElementById("live");
    if (live) live.textContent = text;
  };

  // === Theme ===
  const setTheme = (theme) => {
    root.setAttribute("data-bs-theme", theme);
    try { localStorage.setItem("deltaweb-theme", theme); } catch { /* private mode */ }
    document.dispatchEvent(new CustomEvent("deltaweb:theme", { detail: theme }));
    say(`${theme} theme`);
  };
  const forgetTheme = () => {
    try { localStorage.removeItem("deltaweb-theme"); } catch { /* private mode */ }
  };

  // === Copy ===
  const textOf = (button) => {
    const target = button.dataset.copyFrom && document.querySelector(button.dataset.copyFrom);
    if (!target) return button.dataset.copy || "";
    return "value" in target ? target.value : target.textContent;
  };
  const copy = async (button) => {
    await navigator.clipboard.writeText(textOf(button));
    button.classList.add("is-done");
    say("Copied");
    setTimeout(() => button.classList.remove("is-done"), 1500);
  };

  // === Dialogs and menus ===
  const openDialog = (id) => {
    const dialog = document.getElementById(id);
    if (dialog && !dialog.open) dialog.showModal();
  };

  // A link marked so opens its page beside this one, with parts of this page's address.
  const openDrawer = async (link) => {
    const url = new URL(link.href);
    const here = new URLSearchParams(location.search);
    link.dataset.drawer.split(" ").forEach((name) => {
      url.searchParams.delete(name);
      here.getAll(name).forEach((value) => url.searchParams.append(name, value));
    });
    const answer = await fetch(url, { headers: { "HX-Request": "true" } });
    if (answer.redirected || !answer.ok) { location.assign(url); return; }
    const drawer = document.getElementById("drawer");
    const chosen = [...drawer.querySelectorAll("input:checked")].map((input) => input.value);
    drawer.querySelector("[data-drawer-body]").innerHTML = await answer.text();
    drawer.querySelectorAll("input[type=radio]").forEach((input) => {
      if (chosen.includes(input.value)) input.checked = true; // of the tool that was read
    });
    drawer.querySelector("[data-drawer-page]").href = url;
    openDialog("drawer");
  };
  const isPlain = (event) => !(event.ctrlKey || event.metaKey || event.shiftKey || event.altKey);

  document.addEventListener("click", (event) => {
    if (event.target.matches("dialog.dw-drawer")) event.target.close(); // beside it
    const target = event.target.closest("button, a, summary");
    if (!target) {
      document.querySelectorAll("details.dw-menu[open]").forEach((menu) => {
        if (!menu.contains(event.target)) menu.open = false;
      });
      return;
    }
    if (target.matches("[data-theme-switch]")) {
      setTheme(root.getAttribute("data-bs-theme") === "dark" ? "light" : "dark");
    } else if (target.matches("[data-copy], [data-copy-from]")) {
      copy(target).catch(() => say("Copying is not allowed here"));
    } else if (target.matches("[data-dialog]")) {
      event.preventDefault();
      openDialog(target.dataset.dialog);
    } else if (target.matches("[data-pick-day]")) {
      pickDay(target);
    } else if (target.matches("[data-drawer]") && isPlain(event)) {
      event.preventDefault();
      openDrawer(target).catch(() => location.assign(target.href));
    } else if (target.matches("[data-close]")) {
      target.closest("dialog")?.close();
    }
    document.querySelectorAll("details.dw-menu[open]").forEach((menu) => {
      if (!menu.contains(target)) menu.open = false;
    });
  });

  document.addEventListener("submit", (event) => {
    if (event.target.matches("[data-theme-form]")) forgetTheme();
  });

  // A field marked so sends its form at once; without script its button does. One that is
  // marked `valid` does so only if the other fields allow it.
  document.addEventListener("change", ({ target }) => {
    if (!target.matches("[data-submit]")) return;
    const isReady = target.dataset.submit !== "valid" || (target.value && target.form.checkValidity());
    if (isReady) target.form.requestSubmit();
  });

  // === A file that is ready downloads by itself, once ===
  document.addEventListener("htmx:load", (event) => {
    const [visit] = performance.getEntriesByType("navigation");
    if (event.target === document.body && visit?.type !== "navigate") return;
    const button = event.target.querySelector("[data-begin]");
    button?.removeAttribute("data-begin");
    button?.click();
  });

  // === Forms of filters: what is left empty stays out of the address ===
  document.addEventListener("formdata", (event) => {
    if (event.target.method !== "get") return;
    const data = event.formData;
    for (const name of new Set(data.keys())) {
      const field = event.target.elements[name];
      const kept = data.getAll(name).filter((value) => value !== "");
      data.delete(name);
      kept.forEach((value) => data.append(name, field?.matches?.("[data-day]") ? isoDay(value) ?? value : value));
    }
  });

  // A form with nothing to send would leave a bare "?" at the end of the address.
  document.addEventListener("submit", (event) => {
    const form = event.target;
    if (event.defaultPrevented || form.method !== "get" || form.target) return;
    if (![...new FormData(form, event.submitter).keys()].length) {
      event.preventDefault();
      const [address, place] = (event.submitter?.getAttribute("formaction") || form.getAttribute("action") || location.pathname).split("#");
      location.assign(address.split("?")[0] + (place ? `#${place}` : ""));
    }
  });

  // === Days are typed as pages write them; the browser's calendar helps ===
  const MONTHS = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"];
  const isoDay = (text) => {
    const typed = text.trim().match(/^(\d{1,2})[ .]+([a-z]{3})[a-z]*[ .]+(\d{4})$/i);
    if (!typed) return null;
    const month = MONTHS.findIndex((name) => name.toLowerCase() === typed[2].toLowerCase()) + 1;
    return month ? `${typed[3]}-${String(month).padStart(2, "0")}-${typed[1].padStart(2, "0")}` : null;
  };
  const pickDay = (button) => {
    const field = button.parentElement.querySelector("[data-day]");
    const picker = document.createElement("input");
    picker.type = "date";
    picker.className = "dw-daypick";
    picker.tabIndex = -1;
    picker.setAttribute("aria-hidden", "true");
    picker.value = isoDay(field.value) || field.value;
    picker.addEventListener("change", () => {
      const [year, month, day] = picker.value.split("-").map(Number);
      if (year) field.value = `${day} ${MONTHS[month - 1]} ${year}`;
      field.focus();
    });
    button.parentElement.querySelector(".dw-daypick")?.remove();
    button.parentElement.append(picker);
    picker.showPicker();
  };
  const showDayButtons = () => {
    if (!("showPicker" in HTMLInputElement.prototype)) return;
    document.querySelectorAll("[data-pick-day]").forEach((button) => { button.hidden = false; });
  };
  document.addEventListener("deltaweb:main", showDayButtons);
  showDayButtons();

  // === Filter boxes: hide what does not match ===
  document.addEventListener("input", (event) => {
    const box = event.target;
    if (!box.matches("[data-filter]")) return;
    const needle = box.value.trim().toLowerCase();
    document.querySelectorAll(box.dataset.filter).forEach((item) => {
      const text = (item.dataset.text || item.textContent).toLowerCase();
      item.hidden = needle !== "" && !text.includes(needle);
    });
  });

  // === Shortcuts ===
  const typing = (element) => element.matches("input, textarea, select, [contenteditable]");
  const home = document.querySelector(".dw-brand")?.getAttribute("href"); // behind a proxy not "/"
  const places = {
    d: home,
    t: `${home}tables/`,
    s: `${home}shares/`,
    r: `${home}recipients/`,
    a: `${home}activity/`,
    j: `${home}jobs/`,
  };
  // Only to what the rail offers: the others are not for this user.
  const leadsTo = (key) => places[key] && document.querySelector(`.dw-rail a[href="${places[key]}"]`);
  // Rows of the list that the page is about; where none is marked, of its tables.
  const LISTS = "main .dw-table > tbody > tr, main .dw-hits > li, main .s-event";
  const rows = () => {
    const marked = document.querySelectorAll("[data-row]");
    return [...(marked.length ? marked : document.querySelectorAll(LISTS))].filter((row) => row.offsetParent);
  };
  const moveRow = (by) => {
    const all = rows();
    if (!all.length) return;
    const now = document.querySelector(".is-at");
    const row = all[Math.min(Math.max(all.indexOf(now) + by, 0), all.length - 1)];
    now?.classList.remove("is-at");
    row.classList.add("is-at");
    row.scrollIntoView({ block: "nearest" });
    row.querySelector("a, button, summary")?.focus({ preventScroll: true });
  };
  let goPressedAt = -Infinity;
  document.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    if (event.key === "Escape") {
      document.querySelectorAll("details.dw-menu[open]").forEach((menu) => {
        menu.open = false;
        menu.querySelector("summary")?.focus();
      });
    }
    if (typing(event.target) || document.querySelector("dialog[open]")) return;
    if (event.key === "/") {
      const search = document.getElementById("search");
      if (search && search.offsetParent !== null) {
        event.preventDefault();
        search.focus();
        search.select();
      }
    } else if (event.key === "?") {
      openDialog("shortcuts");
    } else if (event.key === "g") {
      goPressedAt = event.timeStamp;
    } else if (event.timeStamp - goPressedAt < 1000 && leadsTo(event.key)) {
      location.assign(places[event.key]);
    } else if (event.key === "j" || event.key === "k") {
      moveRow(event.key === "j" ? 1 : -1);
    }
  });

  // On a phone the row of tabs is longer than the screen: it begins at the current one.
  const showTab = () => {
    const tab = document.querySelector(".dw-tabs [aria-current]");
    if (tab) tab.parentElement.scrollLeft = tab.offsetLeft - (tab.parentElement.clientWidth - tab.offsetWidth) / 2;
  };
  document.addEventListener("deltaweb:main", showTab);
  showTab();

  // An error answer of the server is shown where the live part would have been.
  document.addEventListener("htmx:beforeSwap", (event) => {
    const type = event.detail.xhr.getResponseHeader("Content-Type") || "";
    if (event.detail.xhr.status >= 400 && type.includes("text/html")) {
      event.detail.shouldSwap = true;
      event.detail.isError = false;
    }
  });
})();
