"use strict";
// What each page of the server has: its data, questions to the server, the way to other pages, keys.
const data = JSON.parse(document.getElementById("data").textContent);
const find = (id) => document.getElementById(id);
const make = (name, properties = {}, ...children) => {
  const element = Object.assign(document.createElement(name), properties);
  element.append(...children);
  return element;
};
const button = (textContent, onclick, more) => make("button", { type: "button", textContent, onclick, ...more });
const digits = (number) => number.toLocaleString("en");
const notice = (text) => { find("notice").textContent = text; };
async function ask(what, body) {
  try {
    const answer = await fetch(`${what}?page=${data.number}`, { method: "POST", headers: { "Content-Type": "application/json" }, body: JSON.stringify(body) });
    const found = await answer.json();
    if (!answer.ok) throw new Error(found.error || answer.statusText);
    return found;
  } catch (error) { notice(`The server did not answer: ${error.message}`); return null; }
}
function go(number) {
  if (data.server && number >= 0 && number < data.pages) location.search = `?page=${number}`;
  else find("number").value = data.number + 1;
}
function showKeys(open) { find("keys").hidden = !open; find("help").setAttribute("aria-expanded", open); }
const KEYS = {
  "[": () => go(data.number - 1), "]": () => go(data.number + 1), "?": () => showKeys(find("keys").hidden),
};
function key(name) { if (!Object.hasOwn(KEYS, name)) return false; KEYS[name](); return true; }
addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey) return;
  if (event.target.matches("input, select")) { if (event.key === "Escape") event.target.blur(); return; }
  if (key(event.key)) event.preventDefault();
});
for (const [id, name] of [["help", "?"], ["previous", "["], ["next", "]"]]) find(id).onclick = KEYS[name];
find("number").addEventListener("change", (event) => go(Number(event.target.value) - 1));
