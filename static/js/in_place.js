// Pages follow each other in place: of the next one its content is fetched and exchanged,
// while the scripts, the styles and the connection of this one stay. Where a browser has
// no Navigation API, or the next page is none of ours, it is loaded whole.
(() => {
  "use strict";
  const say = (text) => { document.getElementById("live").textContent = text; };

  const WHOLE = "whole"; // said of a page that the browser is to load itself
  const home = document.querySelector(".dw-brand").href; // behind a proxy not "/"
  const PAGES = /^(t|n|requests|access-grants|help|tables|search|parquet|jobs|shares|recipients|received|activity|health|what-changed|status|me|admin-area|notifications)?(\/|$)/;
  const NO_PAGES = /\.(json|csv)$|\/(tokens|clients)\//; // files, and what is handed over once
  const isOurs = (address) => {
    const { origin, pathname } = new URL(address);
    const place = `${origin}${pathname}`;
    return place.startsWith(home) && PAGES.test(place.slice(home.length)) && !NO_PAGES.test(pathname);
  };

  // === What is exchanged keeps focus, scrolled boxes and what was typed ===
  const NAMES = ["id", "name", "href", "aria-label"];
  const selectorOf = (element) => {
    const name = NAMES.find((one) => element.getAttribute(one));
    return name && `${element.localName}[${name}="${CSS.escape(element.getAttribute(name))}"]`;
  };
  const keepFocus = (old) => {
    const at = document.activeElement;
    if (!old.contains(at)) return () => {};
    const [focused, text] = [selectorOf(at), at.textContent.trim()];
    return (fresh) => {
      if (document.activeElement !== document.body) return;
      const again = (focused && fresh.querySelector(focused)) // or a link to another order of rows, say
        || [...fresh.querySelectorAll(at.localName)].find((one) => text && one.textContent.trim() === text);
      again?.focus({ preventScroll: true });
    };
  };
  const keepPlace = (old) => {
    const putFocusBack = keepFocus(old);
    const scrolled = [...old.querySelectorAll(".dw-scroll")].map((box) => [box.scrollLeft, box.scrollTop]);
    // What is ticked was agreed to for what was shown.
    const typed = [...old.querySelectorAll("input:not([type=hidden], [type=checkbox], [type=radio]), textarea")]
      .filter((field) => field.value !== field.defaultValue && selectorOf(field))
      .map((field) => [selectorOf(field), field.value]);
    return (fresh) => {
      typed.forEach(([field, value]) => fresh.querySelectorAll(field).forEach((one) => { one.value = value; }));
      fresh.querySelectorAll(".dw-scroll").forEach((box, number) => {
        [box.scrollLeft, box.scrollTop] = scrolled[number] || [0, 0];
      });
      putFocusBack(fresh);
    };
  };
  let putBack = null;
  document.addEventListener("htmx:beforeSwap", (event) => {
    const { elt, target } = event.detail;
    putBack = elt.matches("[data-news], [data-live]") ? [target.id, keepPlace(target)] : null;
  });
  document.addEventListener("htmx:afterSwap", () => {
    const fresh = putBack && document.getElementById(putBack[0]);
    if (fresh) putBack[1](fresh);
    putBack = null;
  });

  // === A page as an answer, and its content in the place of another's ===
  class OtherPageError extends Error {} // what was answered is to be loaded by the browser
  const read = async (address, headers = {}) => {
    const answer = await fetch(address, { headers: { Accept: "text/html", ...headers } });
    if (answer.status >= 500) throw new Error(`${answer.status}`); // it may be another in a moment
    if (!answer.ok || !answer.headers.get("Content-Type")?.startsWith("text/html")) {
      answer.body?.cancel();
      throw new OtherPageError(address);
    }
    return { address: answer.url, fresh: parsed(await answer.text()) };
  };
  const parsed = (text) => {
    const fresh = new DOMParser().parseFromString(text, "text/html");
    fresh.querySelectorAll("noscript").forEach((one) => one.remove()); // read as if there were no script
    const isFramed = ["body[data-news-url]", ".dw-rail", ".dw-crumbs", "#main #messages"].every((part) => fresh.querySelector(part));
    if (!isFramed) throw new OtherPageError("a page in another frame, or a part of one");
    return fresh;
  };
  const addressOf = (element) => element.getAttribute("src") ?? element.getAttribute("href");
  const withoutHash = (address) => address.replace(/\.[0-9a-f]{12}(?=\.\w+$)/, "");
  const ASSETS = "script[src], link[rel=stylesheet]";
  // Scripts run in the order of the page; a style is there before what it is for.
  const takeOver = (element) => new Promise((done) => {
    const copy = document.createElement(element.tagName);
    [...element.attributes].forEach(({ name, value }) => copy.setAttribute(name, value));
    copy.async = false;
    if (copy.localName === "link") ["load", "error"].forEach((name) => copy.addEventListener(name, done));
    else done();
    document.head.append(copy);
  });
  const takeOverAssets = (fresh) => {
    const here = [...document.querySelectorAll(ASSETS)].map(addressOf);
    const lacking = [...fresh.head.querySelectorAll(ASSETS)].filter((one) => !here.includes(addressOf(one)));
    const stems = new Set(here.map(withoutHash));
    // The server is another since: two editions of a script would both listen.
    if (lacking.some((one) => stems.has(withoutHash(addressOf(one))))) throw new OtherPageError("another edition");
    return Promise.all(lacking.map(takeOver));
  };
  const exchangeMain = (fresh) => {
    const main = document.importNode(fresh.getElementById("main"), true);
    document.getElementById("main").replaceWith(main);
    window.htmx.process(main);
    return main;
  };
  const isStarted = () => document.dispatchEvent(new CustomEvent("deltaweb:main"));

  // === What the page shows has moved on ===
  // What somebody presses just now, or has sent, is not exchanged under them.
  const SENT_MS = 10_000; // by then it is answered, or was a download
  let released = Promise.resolve();
  let release = () => {};
  let sentAt = -SENT_MS;
  document.addEventListener("pointerdown", () => { released = new Promise((done) => { release = done; }); });
  ["pointerup", "pointercancel"].forEach((name) => document.addEventListener(name, () => setTimeout(release)));
  window.addEventListener("submit", (event) => {
    if (!event.defaultPrevented) sentAt = performance.now();
  });
  const isSent = () => performance.now() - sentAt < SENT_MS;

  const turns = { taken: 0, onTheWay: "" }; // how often somebody went on, and where to
  const refreshMain = async () => {
    const turn = turns.taken;
    const { fresh } = await read(location.href);
    await takeOverAssets(fresh);
    await released;
    if (isSent() || turns.taken !== turn) return;
    const old = document.getElementById("main");
    const putBackAll = keepPlace(old);
    // What was said of an action is said once: it stays until somebody goes on.
    const said = [...old.querySelectorAll("#messages > *")];
    const main = exchangeMain(fresh);
    main.querySelector("#messages").prepend(...said);
    putBackAll(main);
    isStarted();
    say("The page is up to date");
  };
  const AGAIN_MS = 3_000; // a server that restarts is back by then
  const refresh = () => {
    if (isSent() || turns.onTheWay) return;
    const turn = turns.taken;
    refreshMain().catch((error) => {
      if (error instanceof OtherPageError) location.reload();
      else setTimeout(() => { if (turns.taken === turn) refresh(); }, AGAIN_MS);
    });
  };
  document.addEventListener("page-moved-on", refresh);

  const { navigation } = window;
  if (!navigation) return;

  // === A link that is rested on is fetched ahead, two at most ===
  const REST_MS = 120;
  const AHEAD_MS = 30_000;
  const MAX_AHEAD = 2;
  const NOT_AHEAD = "[download], [hx-get], [hx-post], [hx-boost] a, [target], [data-drawer]";
  const { connection } = navigator;
  const isMetered = () => connection?.saveData || /^(slow-2|2|3)g$/.test(connection?.effectiveType ?? "");
  const withoutFragment = (address) => address.split("#")[0];
  const ahead = new Map();
  const fetchAhead = (link) => {
    const address = withoutFragment(link.href);
    if (ahead.has(address) || address === withoutFragment(location.href)) return;
    if (ahead.size >= MAX_AHEAD) ahead.delete(ahead.keys().next().value);
    const answer = read(address, { Purpose: "prefetch" });
    answer.catch(() => ahead.delete(address)); // it is made when somebody opens it
    ahead.set(address, { answer, at: performance.now() });
  };
  const takeAhead = (address) => {
    const kept = ahead.get(address);
    ahead.clear(); // what somebody does next may change any page
    return kept && performance.now() - kept.at < AHEAD_MS ? kept.answer : Promise.reject(new Error("not ahead"));
  };
  let resting = 0;
  const rest = (link) => {
    clearTimeout(resting);
    if (!link?.href.startsWith(`${home}t/`) || !isOurs(link.href) || link.matches(NOT_AHEAD) || isMetered()) return;
    resting = setTimeout(() => fetchAhead(link), REST_MS);
  };
  let place = ""; // a link that comes under a pointer which rests is not pointed at
  const isMoved = ({ clientX, clientY }) => place !== (place = `${clientX} ${clientY}`);
  document.addEventListener("pointerover", (event) => {
    if (isMoved(event) && event.pointerType === "mouse") rest(event.target.closest?.("a[href]"));
  });
  document.addEventListener("pointermove", isMoved, { passive: true });
  document.addEventListener("focusin", ({ target }) => rest(target.matches("a[href]:focus-visible") ? target : null));
  document.addEventListener("focusout", () => clearTimeout(resting));

  // === Going on: the address, the way back and the scrolled place are the browser's ===
  const SLOW_MS = 250;
  const root = document.documentElement;
  const fetched = async (url) => {
    turns.taken += 1;
    const turn = turns.taken;
    turns.onTheWay = url;
    const slow = setTimeout(() => root.setAttribute("data-going", ""), SLOW_MS);
    try {
      const asked = withoutFragment(url);
      const answer = await takeAhead(asked).catch(() => read(asked));
      if (!isOurs(answer.address)) throw new OtherPageError(answer.address); // to sign in, say
      await takeOverAssets(answer.fresh);
      return turns.taken === turn ? answer : null;
    } finally {
      clearTimeout(slow);
      if (turns.taken === turn) {
        turns.onTheWay = "";
        root.removeAttribute("data-going");
      }
    }
  };
  const show = (fresh, isSamePage) => {
    const old = document.getElementById("main");
    old.querySelectorAll(".htmx-request").forEach((part) => window.htmx.trigger(part, "htmx:abort"));
    document.querySelectorAll("dialog[open]").forEach((dialog) => dialog.close());
    const putFocusBack = isSamePage ? keepFocus(old) : () => {};
    document.title = fresh.title;
    for (const frame of [".dw-crumbs", ".dw-rail"]) {
      document.querySelector(frame).replaceChildren(...document.importNode(fresh.querySelector(frame), true).childNodes);
    }
    sentAt = -SENT_MS;
    putFocusBack(exchangeMain(fresh));
    isStarted();
    say(fresh.title);
  };
  const go = async (url, how) => {
    const found = await fetched(url);
    if (!found) return; // somebody went elsewhere meanwhile
    const address = new URL(found.address);
    address.hash = new URL(url).hash;
    navigation.navigate(address.href, { history: how, info: found.fresh });
  };
  const come = async (url) => {
    const found = await fetched(url);
    if (found) show(found.fresh, false);
  };
  navigation.addEventListener("navigate", (event) => {
    const { destination, navigationType } = event;
    if (!event.canIntercept || event.hashChange || event.formData || event.downloadRequest !== null) return;
    const url = new URL(destination.url);
    if (event.info instanceof Document) {
      const isSamePage = url.pathname === location.pathname;
      event.intercept({
        focusReset: isSamePage ? "manual" : "after-transition",
        handler: async () => {
          show(event.info, isSamePage);
          event.scroll();
        },
      });
    } else if (navigationType === "traverse" && destination.sameDocument) {
      event.intercept({ handler: () => come(url.href).catch(() => location.reload()) });
    } else if (event.cancelable && !destination.sameDocument && event.info !== WHOLE && navigationType !== "reload"
      && isOurs(url.href) && !document.querySelector("[data-hold]")) {
      event.preventDefault();
      if (turns.onTheWay === url.href) return; // a second answer would lack what is said once
      go(url.href, navigationType).catch(() => navigation.navigate(url.href, { history: navigationType, info: WHOLE }));
    }
  });
  // htmx would reload the page where an entry of the history is its own.
  window.addEventListener("popstate", (event) => event.stopImmediatePropagation(), { capture: true });
})();
