"use strict";
(() => {
  const tools = document.querySelector(".tools");
  const filter = document.getElementById("filter");
  const matches = document.getElementById("matches");
  const messages = Array.from(document.querySelectorAll("article"));
  let texts = null;
  let waiting = 0;

  const fold = (open) => {
    for (const each of document.querySelectorAll("#conversation details")) each.open = open;
  };

  const show = () => {
    const wanted = filter.value.trim().toLowerCase();
    texts = texts || messages.map((each) => each.textContent.toLowerCase());
    let count = 0;
    messages.forEach((each, index) => {
      const fits = texts[index].includes(wanted);
      each.hidden = !fits;
      count += fits;
    });
    matches.textContent = wanted ? count + " of " + messages.length : "";
  };

  const openTarget = () => {
    const target = document.getElementById(location.hash.slice(1));
    if (!target || target.tagName !== "ARTICLE") return;
    target.hidden = false;
    const parts = target.querySelectorAll(":scope > details");
    if (parts.length === 1) parts[0].open = true;
    // What stands above gets its true height only when it comes near, and pushes the target away.
    let times = 3;
    const again = () => {
      target.scrollIntoView();
      if (--times) requestAnimationFrame(again);
    };
    requestAnimationFrame(again);
  };

  filter.addEventListener("input", () => {
    clearTimeout(waiting);
    waiting = setTimeout(show, 150);
  });
  document.getElementById("open").addEventListener("click", () => fold(true));
  document.getElementById("close").addEventListener("click", () => fold(false));
  document.getElementById("theme").addEventListener("click", () => {
    const root = document.documentElement;
    const system = matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light";
    root.dataset.theme = (root.dataset.theme || system) === "dark" ? "light" : "dark";
  });
  addEventListener("hashchange", openTarget);
  openTarget();
  tools.hidden = false;
})();
