// Tokens: a link that is shown once is not left by a slip, and small helps of forms.
(() => {
  "use strict";
  const hold = document.querySelector("[data-hold]");
  let holds = hold !== null;
  const copied = () => hold?.querySelector("[data-copied]");

  window.addEventListener("beforeunload", (event) => {
    if (holds && !copied().checked) event.preventDefault();
  });
  document.addEventListener("submit", (event) => {
    // A download leaves the page where it is, and takes the link with it.
    if (event.target.matches("[data-release], [data-hold]")) holds = false;
    if (event.target.matches("[data-hold]")) {
      event.preventDefault(); // The form has nothing to send but an empty query.
      location.assign(event.target.action);
    }
  });

  // Who types a span of their own has chosen it.
  document.addEventListener("input", (event) => {
    const name = event.target.dataset.custom;
    if (!name || !event.target.value) return;
    const own = event.target.form.querySelector(`input[name="${name}"][value="${event.target.dataset.value ?? "custom"}"]`);
    if (own) own.checked = true;
  });

  // The profile has been fetched: the page says so and asks for nothing again.
  document.addEventListener("submit", (event) => {
    if (!event.target.matches("[data-take]")) return;
    setTimeout(() => {
      event.target.hidden = true;
      document.querySelectorAll("[data-untaken]").forEach((part) => { part.hidden = true; });
      document.querySelectorAll("[data-taken]").forEach((part) => { part.hidden = false; });
      const after = document.getElementById("taken");
      after.hidden = false;
      after.focus();
    }, 1500);
  });
})();
