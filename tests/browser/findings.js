// What axe-core finds in a part of the page, by rules; of what is alike in so many.
//
// Rows, items and bars are alike but for what they say. More than one of a kind is
// looked at, for the second may be of another colour, or lack what the first has.
([part, rules, numAlike]) => {
  const MEANT = ["class", "style", "role", "type", "fill", "stroke", "opacity", "tabindex"];
  const kindOf = (node) => {
    if (node.nodeType === Node.TEXT_NODE) return node.data.trim() ? "text" : "";
    if (node.nodeType !== Node.ELEMENT_NODE) return "";
    const attributes = [...node.attributes].map(({ name, value }) => {
      if (MEANT.includes(name)) return `${name}=${value}`;
      return value.trim() ? name : `${name}=`;
    });
    return `<${node.localName} ${attributes.join(" ")}>${[...node.childNodes].map(kindOf).join("")}</>`;
  };
  const exclude = [];
  const passBy = (parent) => {
    const seen = new Map();
    for (const one of parent.children) {
      const kind = kindOf(one);
      seen.set(kind, (seen.get(kind) ?? 0) + 1);
      if (seen.get(kind) > numAlike) exclude.push(one);
      else passBy(one);
    }
  };
  if (numAlike) passBy(document.querySelector(part));
  // What scrolls is made reachable by keys by a script, as a whole page is loaded;
  // colours are looked at on whole pages.
  const isWhole = part === "html";
  return axe.run({ include: [[part]], exclude }, {
    runOnly: rules,
    resultTypes: ["violations"],
    preload: false,
    rules: {
      "scrollable-region-focusable": { enabled: isWhole },
      "color-contrast": { enabled: isWhole },
    },
  }).then(({ violations }) => violations);
}
