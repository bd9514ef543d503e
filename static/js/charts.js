// Draws the figures that the page carries as JSON; colours are those of the theme.
(() => {
  "use strict";
  const PLOTLY = document.currentScript.dataset.plotly;
  const COLOUR = /^var\((--[\w-]+)\)$/;

  // One hidden element resolves color-mix and the like to what a canvas understands.
  const probe = document.createElement("span");
  probe.hidden = true;

  const colourOf = (name, styles) => {
    const raw = styles.getPropertyValue(name).trim();
    if (!raw.includes("(") || raw.startsWith("rgb")) return raw;
    probe.style.color = raw;
    return getComputedStyle(probe).color || raw;
  };

  // A figure is copied, never changed: the next theme starts from the names again.
  const themed = (value, styles) => {
    if (typeof value === "string") {
      const match = COLOUR.exec(value);
      if (!match) return value;
      if (match[1] === "--dw-font") return styles.getPropertyValue(match[1]).trim();
      return colourOf(match[1], styles);
    }
    if (Array.isArray(value)) return value.map((item) => themed(item, styles));
    if (value && typeof value === "object") {
      return Object.fromEntries(
        Object.entries(value).map(([key, item]) => [key, themed(item, styles)]),
      );
    }
    return value;
  };

  // Plotly takes a third of a second to start: whoever comes sees the page before.
  let library = null;
  const plotly = () => (library ??= new Promise((done, failed) => {
    requestAnimationFrame(() => setTimeout(() => {
      const script = document.createElement("script");
      script.src = PLOTLY;
      script.onload = done;
      script.onerror = failed;
      document.head.append(script);
    }));
  }));

  const CONFIG = { displayModeBar: false, responsive: true, showTips: false, doubleClick: false };

  // A chart listens to the window: with its page it is let go.
  const drawn = new Set();
  const letGo = () => [...drawn].filter((place) => !place.isConnected).forEach((place) => {
    window.Plotly.purge(place);
    drawn.delete(place);
  });

  const draw = (place) => {
    const source = document.getElementById(place.dataset.chart);
    if (!source) return;
    const figure = JSON.parse(source.textContent);
    const { data, layout } = themed(figure, getComputedStyle(document.documentElement));
    window.Plotly.react(place, data, layout, CONFIG);
    place.dataset.drawn = "yes";
    drawn.add(place);
    if (place.dataset.chart === "commits-per-day") followDays(place);
    if (place.dataset.chart === "file-sizes") followSizes(place);
  };

  // A click on a day leads to the commits of that day.
  const followDays = (place) => {
    if (place.dataset.follows) return;
    place.dataset.follows = "yes";
    place.on("plotly_click", (event) => {
      const day = String(event.points[0].x).slice(0, 10);
      const base = location.pathname.replace(/\/history$/, "/").replace(/\/$/, "");
      const query = new URLSearchParams(location.search);
      ["page", "before"].forEach((name) => query.delete(name));
      query.set("from", day);
      query.set("to", day);
      location.assign(`${base}/history?${query}`);
    });
  };

  // A click on a bar of sizes leads to the files of these sizes.
  const followSizes = (place) => {
    if (place.dataset.follows) return;
    place.dataset.follows = "yes";
    place.on("plotly_click", (event) => {
      const [, smallest, largest] = event.points[0].customdata;
      const base = location.pathname.replace(/\/files$/, "/").replace(/\/$/, "");
      const query = new URLSearchParams(location.search);
      query.delete("page");
      query.set("min", smallest);
      query.set("max", largest);
      location.assign(`${base}/files?${query}`);
    });
  };

  // A chart is drawn when it comes into sight.
  const seen = new IntersectionObserver((entries) => {
    entries.filter((entry) => entry.isIntersecting).forEach((entry) => {
      seen.unobserve(entry.target);
      plotly().then(() => draw(entry.target));
    });
  }, { rootMargin: "200px" });
  const watch = () => {
    letGo();
    document.querySelectorAll("[data-chart]").forEach((place) => seen.observe(place));
  };
  const redraw = () => document.querySelectorAll("[data-drawn]").forEach(draw);

  const start = () => {
    document.body.append(probe);
    watch();
    document.addEventListener("deltaweb:main", watch);
    document.addEventListener("htmx:afterSwap", watch);
    new MutationObserver(redraw).observe(document.documentElement, {
      attributes: true,
      attributeFilter: ["data-bs-theme"],
    });
  };

  if (document.readyState === "loading") document.addEventListener("DOMContentLoaded", start);
  else start();
})();
