// What the theme makes without a name or beyond the keyboard, for readers who hear pages or use no mouse.
const named = () => {
  document.querySelector(".md-search")?.setAttribute("aria-label", "Search");
  document.querySelectorAll(".md-code__nav").forEach((x, i) => x.setAttribute("aria-label", `Code ${i + 1}`));
  document.querySelectorAll(".md-typeset__scrollwrap, .picture, .shown").forEach((x) => { x.tabIndex = 0; });
};
named();
new MutationObserver(named).observe(document.body, { childList: true, subtree: true });
