// Live parts: each names what it shows, and is asked for again once the server says that
// it has moved on. A page that somebody looks at holds one connection for that; where
// there is none, its parts are asked for now and then.
(() => {
  "use strict";
  const FIRST_WORD_MS = 10_000; // a proxy that keeps what is sent says nothing at all
  const SILENT_MS = 60_000; // the server gives a sign of life more often
  const FIRST_PAUSE_MS = 500;
  const LONGEST_PAUSE_MS = 30_000;
  const QUIET_S = 30; // of a part at work: news may be lost
  const AT_WORK_S = 30; // a part that asks less often waits for nothing in particular
  const MAX_WINDOWS = 3; // a browser has six connections to a server, for all windows

  const address = document.body.dataset.newsUrl;
  const parts = () => [...document.querySelectorAll("[data-news]")];
  const shown = () => new Map(parts().flatMap((part) => part.dataset.news.split(" ").map((text) => text.split("@"))));

  // === Asking for parts ===
  const askedAt = new WeakMap();
  const missed = new Set(); // what was told while its part was on its way
  const ask = (part, topics = []) => {
    if (part.matches(".htmx-request")) {
      topics.forEach((topic) => missed.add(topic));
      return;
    }
    askedAt.set(part, performance.now());
    part.dispatchEvent(new CustomEvent("news"));
  };
  // A part inside one that is asked for comes with it.
  const hear = (topics) => {
    const asked = [];
    if ([...topics].some((topic) => topic.startsWith("job-end:"))) topics.add("jobs"); // ends with its page
    for (const part of parts()) {
      const heard = part.dataset.news.split(" ").map((text) => text.split("@")[0]).filter((topic) => topics.has(topic));
      if (!heard.length || asked.some((other) => other.contains(part))) continue;
      asked.push(part);
      ask(part, heard);
    }
  };

  // === The connection ===
  let line = null; // what ends it
  let followed = new Set();
  let isCut = false;
  let pauseMs = FIRST_PAUSE_MS;
  let again = 0; // a timer
  const hangUp = () => {
    clearTimeout(again);
    if (line) radio({ listens: false });
    line?.abort();
    line = null;
    followed = new Set();
  };
  const read = async (body, heard) => {
    const reader = body.pipeThrough(new TextDecoderStream()).getReader();
    let rest = "";
    for (;;) {
      const { value, done } = await reader.read();
      if (done) return;
      heard();
      const lines = (rest + value).split("\n");
      rest = lines.pop();
      lines.filter((text) => text.startsWith("data: ")).forEach((text) => hear(new Set(text.slice(6).split(" "))));
    }
  };
  const listen = async (own, topics) => {
    const query = new URLSearchParams([...topics].map(([topic, revision]) => ["on", `${topic}@${revision}`]));
    let timer = setTimeout(() => own.abort(), FIRST_WORD_MS);
    try {
      const answer = await fetch(`${address}?${query}`, { signal: own.signal, headers: { Accept: "text/event-stream" } });
      if (answer.redirected) parts().forEach((part) => ask(part)); // nobody is signed in any more
      if (answer.status !== 200 || answer.redirected) throw new Error(`${answer.status}`);
      await read(answer.body, () => {
        isCut = false;
        pauseMs = FIRST_PAUSE_MS;
        clearTimeout(timer);
        timer = setTimeout(() => own.abort(), SILENT_MS);
      });
    } finally {
      clearTimeout(timer);
    }
  };
  const call = async () => {
    hangUp();
    const topics = shown();
    if (!topics.size || document.hidden || !address) return;
    const own = new AbortController();
    line = own;
    followed = new Set(topics.keys());
    newer.clear();
    radio({ listens: true });
    try {
      await listen(own, topics);
    } catch {
      if (line !== own) return;
      isCut = true;
      pauseMs = Math.min(pauseMs * 2, LONGEST_PAUSE_MS);
    }
    if (line !== own) return; // it was hung up
    hangUp();
    again = setTimeout(call, pauseMs * (0.5 + Math.random()));
  };
  // What a part shows after it was asked for may be something else to wait for.
  const follow = () => {
    if (missed.size) {
      const topics = new Set(missed);
      missed.clear();
      hear(topics);
    }
    const wanted = [...shown().keys()];
    if (!wanted.length) hangUp();
    else if (line && !wanted.every((topic) => followed.has(topic))) call();
    else if (!line && !isCut) call();
  };

  // === Windows beside this one: the newest hold connections, the others ask ===
  const id = Math.random();
  const newer = new Set();
  const channel = "BroadcastChannel" in window ? new BroadcastChannel("deltaweb-news") : null;
  const radio = (said) => channel?.postMessage({ id, ...said });
  channel?.addEventListener("message", ({ data }) => {
    const wasFull = newer.size >= MAX_WINDOWS;
    if (data.listens && (line || wasFull)) newer.add(data.id);
    else newer.delete(data.id);
    if (line && newer.size >= MAX_WINDOWS) {
      hangUp();
      isCut = true;
    } else if (wasFull && newer.size < MAX_WINDOWS) call();
  });

  // === Each second: how long work takes, and what nobody has told ===
  const words = (seconds) => {
    if (seconds < 10) return `${seconds.toFixed(1)} s`;
    if (seconds < 60) return `${Math.floor(seconds)} s`;
    if (seconds < 3600) return `${Math.floor(seconds / 60)} min ${Math.floor(seconds % 60)} s`;
    return `${Math.floor(seconds / 3600)} h ${Math.floor((seconds % 3600) / 60)} min`;
  };
  const tick = () => {
    if (document.hidden) return;
    const now = performance.now();
    document.querySelectorAll("[data-elapsed]").forEach((text) => {
      text.dataset.since ??= now - 1000 * Number(text.dataset.elapsed);
      text.textContent = words((now - Number(text.dataset.since)) / 1000);
    });
    for (const part of document.querySelectorAll("[data-every]")) {
      const everyS = Number(part.dataset.every);
      const dueS = isCut ? everyS : everyS < AT_WORK_S ? QUIET_S : Infinity;
      if (!askedAt.has(part)) askedAt.set(part, now);
      else if (now - askedAt.get(part) >= 1000 * dueS) ask(part);
    }
  };
  setInterval(tick, 1000);

  document.addEventListener("visibilitychange", () => (document.hidden ? hangUp() : call()));
  window.addEventListener("pagehide", hangUp);
  window.addEventListener("pageshow", (event) => { if (event.persisted) call(); });
  document.addEventListener("htmx:afterSettle", follow);
  document.addEventListener("htmx:afterRequest", follow);
  // Nobody heard what the server said to the content before: it is asked again, by what
  // this one shows.
  document.addEventListener("deltaweb:main", () => (line ? call() : follow()));
  call();
})();
