// A name for the search dialog, and the keyboard for what scrolls: the theme has neither.
document.querySelector(".md-search")?.setAttribute("aria-label", "Search");
const reach = () => document.querySelectorAll(".md-typeset__scrollwrap, pre > code").forEach(box => { box.tabIndex = 0; });
addEventListener("load", reach);
