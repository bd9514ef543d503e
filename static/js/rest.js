// The reference of the REST API, which Swagger UI draws from openapi.json.
(() => {
  "use strict";
  const box = document.getElementById("swagger-ui");
  const READING = ["GET", "HEAD", "OPTIONS"];
  // The library names no choice and no body, and its code cannot be scrolled by keys.
  const NAMES = { "content-type": "Content type", "body-param__text": "Body" };
  const nameOf = (field) => field.closest("tr[data-param-name]")?.dataset.paramName
    || Object.entries(NAMES).find(([name]) => field.classList.contains(name))?.[1]
    || "Media type";
  const complete = () => {
    box.querySelectorAll(":is(select, textarea):not([aria-label])").forEach((one) => one.setAttribute("aria-label", nameOf(one)));
    box.querySelectorAll("pre:not([tabindex])").forEach((one) => one.setAttribute("tabindex", "0"));
  };
  new MutationObserver(complete).observe(box, { childList: true, subtree: true });
  window.SwaggerUIBundle({
    url: box.dataset.openapi,
    domNode: box,
    deepLinking: false, // its links stand in buttons, which no keyboard expects
    docExpansion: "none",
    defaultModelsExpandDepth: -1,
    filter: true,
    validatorUrl: null,
    presets: [window.SwaggerUIBundle.presets.apis],
    // A call of the signed-in person needs the token of a form of this page.
    requestInterceptor: (request) => {
      const isOurs = new URL(request.url, location.href).origin === location.origin;
      const token = document.querySelector("[name=csrfmiddlewaretoken]");
      const isWriting = !READING.includes((request.method || "GET").toUpperCase());
      if (isOurs && token && isWriting && !request.headers.Authorization) request.headers["X-CSRFToken"] = token.value;
      return request;
    },
  });
})();
