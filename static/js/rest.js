// The reference of the REST API, which Swagger UI draws from openapi.json.
(() => {
  "use strict";
  const box = document.getElementById("swagger-ui");
  const READING = ["GET", "HEAD", "OPTIONS"];
  window.SwaggerUIBundle({
    url: box.dataset.openapi,
    domNode: box,
    deepLinking: true,
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
